#include "kernels/auto_contrast/auto_contrast.hpp"

namespace lensd {

FilterSchema AutoContrast::make_schema() {
  using P = AutoContrastParams;
  return Schema<P>("auto_contrast", "stretches the histogram to the full range")
      .real("clip_low", &P::clip_low, 0, 49, "darkest samples that may become black", {.unit = "%"})
      .real("clip_high", &P::clip_high, 0, 49, "brightest samples that may become white", {.unit = "%"})
      .boolean("per_channel", &P::per_channel, "stretch each channel separately, which removes a colour cast")
      .real("smooth", &P::smooth, 0, 0.99,
            "share of the previous frame's limits that is kept, against flicker")
      .build();
}

void AutoContrast::decide(const AutoContrastBlock& block, const TableInput& input, AutoContrastState& state,
                          AutoContrastStats& stats) {
  const int channels = input.channels;
  for (int c = 0; c < channels; ++c) {
    const int from = block.per_channel ? c : 0, to = block.per_channel ? c + 1 : channels;
    uint64_t count[256] = {}, samples = 0;
    for (int v = 0; v < 256; ++v)
      for (int k = from; k < to; ++k) count[v] += stats.tally.histogram.count[k][v];
    for (const uint64_t n : count) samples += n;
    const uint64_t low_limit = clip_limit(samples, block.clip_low_ppm),
                   high_limit = clip_limit(samples, block.clip_high_ppm);
    int low = 0, high = 255;
    uint64_t up_to = 0;
    for (int v = 0; v < 256; ++v) {
      up_to += count[v];
      if (is_low_end(up_to, count[v], low_limit)) low = v;
      if (is_high_end(samples, up_to, count[v], high_limit)) high = v;
    }
    const bool deep = input.most == 65535;
    const OwnEnds own =
        deep ? deep_ends(stats.tally, from, to, low, high) : OwnEnds{double(low), double(high)};
    move_ends(block, own.low, own.high, state.seen == 0, c, state.ends);
  }
  state.seen = 1;
  stats.ends = state.ends;
  stats.channels = static_cast<uint64_t>(channels);
}

void AutoContrast::read_stats(const void* stats, std::vector<Statistic>& out) const {
  const auto& s = *static_cast<const AutoContrastStats*>(stats);
  const int channels = static_cast<int>(s.channels);
  for (int c = 0; c < channels; ++c) {
    out.push_back({channel_statistic("low", c, channels), s.ends.low[c]});
    out.push_back({channel_statistic("high", c, channels), s.ends.high[c]});
  }
}

}  // namespace lensd
