#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

struct TemporalDenoiseParams {
  double strength = 0.7;
  double motion_threshold = 24;
};

struct TemporalDenoiseBlock {
  uint16_t base_q8;    ///< part of the new frame that a resting channel takes
  uint16_t threshold;  ///< Q8 levels from which a change is motion; 0: everything is
  uint16_t slope;      ///< growth of that part, Q8 per 65536 Q8 levels

  static TemporalDenoiseBlock make(const TemporalDenoiseParams& p) {
    const long base = std::lround(256 * (1 - p.strength));
    const long threshold = base < 256 ? std::lround(p.motion_threshold * 256) : 0;
    const long slope = threshold == 0 ? 0
                                      : std::min(65535l, std::lround((256.0 - static_cast<double>(base)) *
                                                                     65536 / static_cast<double>(threshold)));
    return {static_cast<uint16_t>(base), static_cast<uint16_t>(threshold), static_cast<uint16_t>(slope)};
  }
};

/// The estimate after value `v`. Estimates are kept in Q8 levels plus 1; 0 stands for none yet.
LENSD_HD constexpr uint32_t next_estimate(uint32_t kept, uint32_t v, const TemporalDenoiseBlock& block) {
  const uint32_t now = v << 8;
  if (kept == 0) return now + 1;
  const uint32_t last = kept - 1;
  const uint32_t distance = now > last ? now - last : last - now;
  if (distance >= block.threshold) return now + 1;
  const uint32_t raised = block.base_q8 + (distance * block.slope >> 16);
  const uint32_t part = raised < 255 ? raised : 255;
  const uint32_t step = distance * part >> 8;
  return (now > last ? last + step : last - step) + 1;
}

/// The estimate rounded to 8 bits.
LENSD_HD constexpr uint32_t estimated_value(uint32_t kept) {
  return (kept + 127) >> 8;
}

}  // namespace lensd
