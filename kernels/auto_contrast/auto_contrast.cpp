#include "kernels/auto_contrast/auto_contrast.hpp"

#include <vector>

#include "kernels/common/add_shared.hpp"
#include "kernels/common/count_values.hpp"

namespace lensd {
namespace {

/// Returns the ends among the bytes, counted by count(v). `below`: samples below all of them.
template <class Count>
ByteEnds find_ends(const Count& count, uint64_t below, uint64_t samples, const ClipLimits& limits) {
  ByteEnds ends{{0, 0}, {255, 0}};
  for (int v = 0; v < 256; ++v) {
    const uint64_t own = count(v), up_to = below + own;
    if (is_low_end(up_to, own, limits.low)) ends.low = {v, below};
    if (is_high_end(samples, up_to, own, limits.high)) ends.high = {v, below};
    below = up_to;
  }
  return ends;
}

/// The values that determine the ends of a channel, counted by byte; by high byte with 16 bits.
struct ChannelCounts {
  ContrastChannels channels;
  uint64_t samples;
  ClipLimits limits;
  ByteEnds ends;

  ChannelCounts(const AutoContrastBlock& block, const TableInput& input, const Histogram& histogram, int c)
      : channels(block, c, input.channels),
        samples(input.pixels * static_cast<uint64_t>(channels.size())),
        limits(clip_limits(block, samples)),
        ends(find_in(histogram.count, 0)) {}

  ByteEnds find_in(const uint32_t (&count)[3][256], uint64_t below) const {
    return find_ends([&](int v) { return channels.sum(count, v); }, below, samples, limits);
  }
  OwnEnds find_deep(const AutoContrastStats& stats) const {
    const CountedBytes counted(ends, limits);
    const auto find = [&](const ByteEnd& end) {
      return find_in(stats.low_bytes[counted.table(end.byte)].count, end.below);
    };
    return deep_ends(stats.tally.range, channels, limits, ends, find(ends.low).low.byte,
                     find(ends.high).high.byte);
  }
};

/// Counts of a band's low bytes, for each end in the tables of ValueTables.
struct BandLowBytes {
  static constexpr int kTables = value_tables(false);
  static_assert(value_tables(true) <= kTables);
  uint32_t count[2][kTables][256];
  ValueTables tables[2];
  bool used[2];

  /// Counts samples of channel `c` with high byte `byte` for `end`.
  void use(int end, bool gray, int c, int byte) {
    used[end] = true;
    const auto table = [this, end](int t) { return count[end][t]; };
    count_channel(tables[end], gray, c, static_cast<uint16_t>(byte * 256), 255, table);
  }
};

}  // namespace

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

Layout AutoContrast::configure(const FilterInputs& inputs) {
  Layout layout = TableFilter::configure(inputs);
  const ImageFormat& format = inputs.images[0];
  if (sample_bytes(format.format) == 1) return layout;
  // Any frame can switch clipping on, so the pass is always there. Without clipping it does nothing.
  const PassSpec low_bytes{.name = "low bytes",
                           .run = cpu_pass<&AutoContrast::count_low_bytes>,
                           .launch = cuda_pass<&AutoContrast::launch_count_low_bytes>,
                           .items = format.extent.height,
                           .grain = tally_grain(format.extent)};
  layout.passes.insert(layout.passes.begin() + 1, low_bytes);
  return layout;
}

void AutoContrast::count_low_bytes(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  const AutoContrastBlock& block = block_of(args);
  AutoContrastStats& stats = *stats_of(args);
  const TableInput input(in.format);
  if (!is_clipped(block, input.pixels, input.channels)) return;
  const bool gray = input.channels == 1;
  BandLowBytes found{};
  for (int c = 0; c < input.channels; ++c) {
    const ChannelCounts counts(block, input, stats.tally.histogram, c);
    const CountedBytes counted(counts.ends, counts.limits);
    for (int end = 0; end < 2; ++end)
      if (counted.byte[end] >= 0) found.use(end, gray, c, counted.byte[end]);
  }
  for (int y = band.begin; y < band.end; ++y)
    for (int end = 0; end < 2; ++end)
      if (found.used[end])
        count_in_ranges(in.samples<uint16_t>(y), in.format.row_samples(), found.tables[end]);
  for (int end = 0; end < 2; ++end)
    for (int t = 0; t < value_tables(gray); ++t)
      for (int v = 0; v < 256; ++v)
        add_shared(stats.low_bytes[end].count[channel_of(gray, t)][v], found.count[end][t][v]);
}

void AutoContrast::decide(const AutoContrastBlock& block, const TableInput& input, AutoContrastState& state,
                          AutoContrastStats& stats) {
  const int channels = input.channels;
  for (int c = 0; c < channels; ++c) {
    const ChannelCounts counts(block, input, stats.tally.histogram, c);
    const OwnEnds own = input.most == 65535
                            ? counts.find_deep(stats)
                            : OwnEnds{double(counts.ends.low.byte), double(counts.ends.high.byte)};
    move_ends(block, own.low, own.high, state.seen == 0, c, state.ends);
  }
  state.seen = 1;
  stats.ends = state.ends;
  stats.channels = static_cast<uint64_t>(channels);
}

void AutoContrast::reference_decide(const AutoContrastBlock& block, const Image& in, AutoContrastState& state,
                                    AutoContrastStats& stats) {
  const int channels = colour_channels(in.format.format), most = max_sample(in.format.format);
  for (int c = 0; c < channels; ++c) {
    const int from = block.per_channel ? c : 0, to = block.per_channel ? c + 1 : channels;
    std::vector<uint64_t> count(static_cast<size_t>(most) + 1);
    uint64_t samples = 0;
    for_each_sample(in.format.extent, channels, [&](int x, int y, int k) {
      if (k >= from && k < to) ++count[static_cast<size_t>(in.sample(x, y, k))], ++samples;
    });
    const auto too_few = [samples](uint64_t n, uint64_t ppm) { return n * 1000000 <= samples * ppm; };
    size_t low = 0, high = count.size() - 1;
    for (uint64_t n = count[low]; too_few(n, block.clip_low_ppm); n += count[low]) ++low;
    for (uint64_t n = count[high]; too_few(n, block.clip_high_ppm); n += count[high]) --high;
    const double unit = most / 255.0;
    move_ends(block, static_cast<double>(low) / unit, static_cast<double>(high) / unit, state.seen == 0, c,
              state.ends);
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
