#pragma once

#include <cmath>
#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

struct DifferenceParams {
  double gain = 1;
};

struct DifferenceBlock {
  uint32_t gain_q8;
  static DifferenceBlock make(const DifferenceParams& p) {
    return {static_cast<uint32_t>(std::lround(p.gain * 256))};
  }
};

/// min(255, |a − b|·gain), rounded.
LENSD_HD constexpr uint32_t amplified_difference(uint32_t a, uint32_t b, uint32_t gain_q8) {
  const uint32_t d = ((a > b ? a - b : b - a) * gain_q8 + 128) >> 8;
  return d < 255 ? d : 255;
}

}  // namespace lensd
