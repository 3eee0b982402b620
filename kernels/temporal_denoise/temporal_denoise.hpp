// temporal_denoise: recursive, motion-adaptive noise reduction. Each colour channel of each pixel keeps an
// estimate e in 8.8 fixed point; with d = |v − e| the next one is
//
//   v                          where d ≥ motion_threshold (and in the first frame, or the first after a seek)
//   e + p·(v − e)              elsewhere, p rising linearly from 1 − strength at d = 0 to 1 at the threshold
//
// and out = e rounded. p has 8 bits, and products are truncated. For a static picture, the output becomes
// equal to the input. Alpha passes through.
//
// For 16-bit images, e is in 16.8 fixed point and the threshold is 257 times as high.
//
// Formats: all. Aliasing: none. Border rule: none. Temporal reach: all frames since the last seek
// (state: 2 bytes for each byte of the image). Exact: integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/common/single_pass.hpp"

namespace lensd {

struct TemporalDenoiseParams {
  double strength = 0.7;
  double motion_threshold = 24;
};

struct TemporalDenoiseBlock {
  uint16_t base_q8;    ///< weight of the new frame without motion
  uint16_t threshold;  ///< minimum change that counts as motion, in Q8 levels; 0: every change
  uint16_t slope;      ///< increase of the new frame's weight (Q8) per 65536 Q8 levels of change

  static TemporalDenoiseBlock make(const TemporalDenoiseParams& p) {
    const long base = std::lround(256 * (1 - p.strength));
    const long threshold = base < 256 ? std::lround(p.motion_threshold * 256) : 0;
    const long slope = threshold == 0 ? 0
                                      : std::min(65535l, std::lround((256.0 - static_cast<double>(base)) *
                                                                     65536 / static_cast<double>(threshold)));
    return {static_cast<uint16_t>(base), static_cast<uint16_t>(threshold), static_cast<uint16_t>(slope)};
  }
};

/// Computes next_estimate() for 16-bit samples. Estimates are Q8 levels of 16 bits, plus 1.
LENSD_HD constexpr uint32_t next_deep_estimate(uint32_t kept, uint32_t v, const TemporalDenoiseBlock& block) {
  const uint32_t now = v << 8;
  if (kept == 0) return now + 1;
  const uint32_t last = kept - 1;
  const uint32_t distance = now > last ? now - last : last - now;
  if (distance >= block.threshold * 257u) return now + 1;
  const uint32_t raised = block.base_q8 + ((distance >> 8) * block.slope >> 16);
  const uint32_t part = raised < 255 ? raised : 255;
  const uint32_t step = distance * part >> 8;  // the product is below 2^32
  return (now > last ? last + step : last - step) + 1;
}

/// Returns the next estimate, from the previous estimate `kept` and the new value `v`. Estimates are stored
/// as Q8 levels plus 1; 0: no estimate yet.
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

/// Returns the sample value of a stored estimate, rounded to nearest.
LENSD_HD constexpr uint32_t estimated_value(uint32_t kept) {
  return (kept + 127) >> 8;
}

class TemporalDenoise final
    : public SinglePass<TemporalDenoise, TemporalDenoiseParams, TemporalDenoiseBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void apply_deep(const PassArgs& args, Band band) const;
  void reference(ReferenceRun& run) const override;

 private:
  /// Returns the bytes from one row of estimates to the next; rows begin at multiples of 32 bytes.
  static size_t state_pitch(const ImageFormat& format) { return (format.row_bytes() + 15) / 16 * 32; }
};

}  // namespace lensd
