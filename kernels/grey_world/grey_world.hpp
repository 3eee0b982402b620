// grey_world: white balance that makes the means of the colour channels equal.
//
// Channel c is multiplied by gain = mean of all channels / mean of c. If the mean of c is at most 0.05 of
// full scale, the mean of all channels is added instead. `strength` blends the result with the input.
// `smooth` low-passes gains and added offsets from frame to frame. The first frame and the first one after a
// seek are not low-passed.
//
// Formats: all. In grey images the gain is 1. If the mean is at most 0.05, it is added as above. Aliasing:
// none. Border rule: none. Temporal reach: all frames since the last seek (state), none with smooth = 0.
// Exact: integer sums, doubles in a fixed order, then tables; for 16-bit images, single precision instead of
// tables. Source: G. Buchsbaum, A spatial processor model for object colour perception, 1980.
#pragma once

#include <cstdint>

#include "kernels/common/table/table_filter.hpp"

namespace lensd {

struct GreyWorldParams {
  double strength = 1;
  double smooth = 0.9;
};

struct GreyWorldBlock {
  /// `kept`, `taken`: weights of the previous gains and of the frame's own gains; their sum is 1.
  double strength, kept, taken;
  static GreyWorldBlock make(const GreyWorldParams& p) { return {p.strength, p.smooth, 1 - p.smooth}; }
};

/// Gain and offset of each channel: a value v (0 to 255) becomes v·gain + offset; for 16-bit images, the
/// offset is multiplied by 257.
struct GreyWorldGains {
  double gain[3], offset[3];
};

struct GreyWorldState {
  uint64_t seen;  ///< 0 until the first frame is processed
  GreyWorldGains gains;
};

struct GreyWorldStats {
  ChannelSums tally;
  GreyWorldGains gains;
  double mean[3];  ///< mean of each channel, 0 to 1
  uint64_t channels;
};

/// Returns gains that make the channels' means equal. A gain would amplify the noise of a channel whose mean
/// is at most 0.05, so the mean over all channels is added instead. Sums are below 2^53 and thus exact in
/// double, so each quotient is rounded once.
LENSD_HD inline GreyWorldGains target_gains(const ChannelSums& sums, const TableInput& input) {
  const int channels = input.channels;
  const uint64_t pixels = input.pixels;
  uint64_t total = 0;
  for (int c = 0; c < channels; ++c) total += sums.sum[c];
  GreyWorldGains target{};
  for (int c = 0; c < channels; ++c) {
    const uint64_t sum = sums.sum[c];
    const bool dark = 20 * sum <= input.most * pixels;
    const uint64_t n = static_cast<uint64_t>(channels);
    target.gain[c] = dark ? 1. : static_cast<double>(total) / static_cast<double>(n * sum);
    target.offset[c] =
        dark ? static_cast<double>(total) / static_cast<double>(n * pixels * (input.most / 255)) : 0.;
  }
  return target;
}

/// Returns kept · last + taken · now, or `now` for the first frame.
LENSD_HD inline double low_passed(double last, double now, bool first, double kept, double taken) {
  if (first) return now;
  const double a = kept * last, b = taken * now;
  return a + b;
}

class GreyWorld final
    : public TableFilter<GreyWorld, GreyWorldParams, GreyWorldBlock, GreyWorldState, GreyWorldStats> {
 public:
  static constexpr const char *count_name = "sums", *decide_name = "gains";

  static FilterSchema make_schema();
  static LENSD_HD AffineMap affine(const GreyWorldBlock& block, const GreyWorldStats& stats, int c) {
    const double scale = 1 + block.strength * (stats.gains.gain[c] - 1);
    const double offset = 257 * (block.strength * stats.gains.offset[c]);
    return {0.f, static_cast<float>(scale), static_cast<float>(offset)};
  }
  static LENSD_HD void decide(const GreyWorldBlock& block, const TableInput& input, GreyWorldState& state,
                              GreyWorldStats& stats) {
    const int channels = input.channels;
    const GreyWorldGains target = target_gains(stats.tally, input);
    const bool first = state.seen == 0;
    for (int c = 0; c < channels; ++c) {
      state.gains.gain[c] = low_passed(state.gains.gain[c], target.gain[c], first, block.kept, block.taken);
      state.gains.offset[c] =
          low_passed(state.gains.offset[c], target.offset[c], first, block.kept, block.taken);
      stats.mean[c] =
          static_cast<double>(stats.tally.sum[c]) / static_cast<double>(input.most * input.pixels);
    }
    state.seen = 1;
    stats.gains = state.gains;
    stats.channels = static_cast<uint64_t>(channels);
  }
  static void reference_decide(const GreyWorldBlock& block, const Image& in, GreyWorldState& state,
                               GreyWorldStats& stats) {
    for_each_sample(in.format.extent, colour_channels(in.format.format), [&](int x, int y, int c) {
      stats.tally.sum[c] += static_cast<uint64_t>(in.sample(x, y, c));
    });
    decide(block, TableInput(in.format), state, stats);
  }
  static LENSD_HD uint8_t table_value(const GreyWorldBlock& block, const GreyWorldStats& stats, int c,
                                      int v) {
    const double balanced = stats.gains.gain[c] * v + stats.gains.offset[c];
    const double mixed = v + block.strength * (balanced - v) + 0.5;
    return static_cast<uint8_t>(mixed < 0 ? 0 : mixed > 255 ? 255 : static_cast<int>(mixed));
  }
  void launch_decide(const PassArgs& args, CudaStream stream) const;
  void read_stats(const void* stats, std::vector<Statistic>& out) const override;
};

}  // namespace lensd
