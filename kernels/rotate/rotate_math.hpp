#pragma once

#include "kernels/flip/flip_math.hpp"

namespace lensd {

/// Clockwise.
enum class RotateAngle : uint8_t { quarter, half, three_quarters };

struct RotateParams {
  RotateAngle angle = RotateAngle::quarter;
};

/// Half a turn is a flip of both sides; quarter turns need nothing.
struct RotateBlock {
  FlipBlock half;
  static RotateBlock make(const RotateParams&) { return {{true, true}}; }
};

/// Where the pixel of column x and row y goes.
struct RotateTarget {
  int x, y;
};
LENSD_HD inline RotateTarget rotate_target(RotateAngle angle, Extent in, int x, int y) {
  if (angle == RotateAngle::quarter) return {in.height - 1 - y, x};
  if (angle == RotateAngle::half) return {in.width - 1 - x, in.height - 1 - y};
  return {y, in.width - 1 - x};
}

}  // namespace lensd
