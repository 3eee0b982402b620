// rotate: rotates the picture clockwise by 90, 180 or 270 degrees.
//
// Formats: all. Border rule: none. Temporal reach: none. Exact.
#pragma once

#include "kernels/common/single_pass.hpp"
#include "kernels/flip/flip.hpp"

namespace lensd {

/// Clockwise rotation: 90, 180 or 270 degrees.
enum class RotateAngle : uint8_t { quarter, half, three_quarters };

struct RotateParams {
  RotateAngle angle = RotateAngle::quarter;
};

/// A rotation by 180 degrees is a flip of both axes; other angles do not use the block.
struct RotateBlock {
  FlipBlock half;
  static RotateBlock make(const RotateParams&) { return {{true, true}}; }
};

/// Output position of an input pixel.
struct RotateTarget {
  int x, y;
};
LENSD_HD inline RotateTarget rotate_target(RotateAngle angle, Extent in, int x, int y) {
  if (angle == RotateAngle::quarter) return {in.height - 1 - y, x};
  if (angle == RotateAngle::half) return {in.width - 1 - x, in.height - 1 - y};
  return {y, in.width - 1 - x};
}

class Rotate final : public SinglePass<Rotate, RotateParams, RotateBlock> {
 public:
  static constexpr PassCost cost{.operations = 0};

  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void reference(ReferenceRun& run) const override;

 private:
  RotateAngle angle_ = RotateAngle::quarter;  ///< angle from configure()
};

}  // namespace lensd
