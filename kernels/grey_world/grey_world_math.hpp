#pragma once

#include <cstdint>

#include "kernels/common/lut.hpp"
#include "kernels/common/tally.hpp"

namespace lensd {

struct GreyWorldParams {
  double strength = 1;
  double smooth = 0.9;
};

struct GreyWorldBlock {
  double strength, kept, taken;  ///< `kept` of the last gains and `taken` of the frame's own, together 1
  static GreyWorldBlock make(const GreyWorldParams& p) { return {p.strength, p.smooth, 1 - p.smooth}; }
};

/// What is done to a channel: value·gain + offset, in 8-bit units.
struct GreyWorldGains {
  double gain[3], offset[3];
};

struct GreyWorldState {
  uint64_t seen;  ///< 0 before the first frame
  GreyWorldGains gains;
};

/// Leads with the sums that the first pass adds to.
struct GreyWorldStats {
  ChannelSums sums;
  GreyWorldGains gains;
  double mean[3];  ///< 0 to 1
  uint64_t channels;
};

/// Gains that make the channels' means equal. A channel whose mean is at most 0.05 would have its noise
/// amplified, so the mean of all is added to it instead. Sums are below 2^53: each quotient is rounded once.
LENSD_HD inline GreyWorldGains grey_world_target(const ChannelSums& sums, int channels, uint64_t pixels) {
  uint64_t total = 0;
  for (int c = 0; c < channels; ++c) total += sums.sum[c];
  GreyWorldGains target{};
  for (int c = 0; c < channels; ++c) {
    const uint64_t sum = sums.sum[c];
    const bool dark = 20 * sum <= 255 * pixels;
    const uint64_t n = static_cast<uint64_t>(channels);
    target.gain[c] = dark ? 1. : static_cast<double>(total) / static_cast<double>(n * sum);
    target.offset[c] = dark ? static_cast<double>(total) / static_cast<double>(n * pixels) : 0.;
  }
  return target;
}

/// One step of a low-pass filter; `first` takes the new value as it is.
LENSD_HD inline double low_passed(double last, double now, bool first, double kept, double taken) {
  if (first) return now;
  const double a = kept * last, b = taken * now;
  return a + b;
}

/// The frame's decision: new state, statistics. One thread on either backend.
LENSD_HD inline void grey_world_decide(const GreyWorldBlock& block, int channels, uint64_t pixels,
                                       GreyWorldState& state, GreyWorldStats& stats) {
  const GreyWorldGains target = grey_world_target(stats.sums, channels, pixels);
  const bool first = state.seen == 0;
  for (int c = 0; c < channels; ++c) {
    state.gains.gain[c] = low_passed(state.gains.gain[c], target.gain[c], first, block.kept, block.taken);
    state.gains.offset[c] =
        low_passed(state.gains.offset[c], target.offset[c], first, block.kept, block.taken);
    stats.mean[c] = static_cast<double>(stats.sums.sum[c]) / static_cast<double>(255 * pixels);
  }
  state.seen = 1;
  stats.gains = state.gains;
  stats.channels = static_cast<uint64_t>(channels);
}

/// Table entry of channel `c` for value `v`.
LENSD_HD inline uint8_t grey_world_value(const GreyWorldGains& gains, int c, int v, double strength) {
  const double balanced = gains.gain[c] * v + gains.offset[c];
  const double mixed = v + strength * (balanced - v) + 0.5;
  return static_cast<uint8_t>(mixed < 0 ? 0 : mixed > 255 ? 255 : static_cast<int>(mixed));
}

}  // namespace lensd
