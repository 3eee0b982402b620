#include "kernels/auto_contrast/auto_contrast.hpp"

#include <vector>

#include "kernels/common/add_shared.hpp"
#include "kernels/common/count_values.hpp"

namespace lensd {
namespace {

/// Returns the black and white point among the bytes. count(v): number of samples with byte v. `below`:
/// number of samples smaller than all counted ones.
template <class Count>
BytePoints find_points(const Count& count, uint64_t below, uint64_t samples, const ClipLimits& limits) {
  BytePoints points{{0, 0}, {255, 0}};
  for (int v = 0; v < 256; ++v) {
    const uint64_t own = count(v), up_to = below + own;
    if (is_black_point(up_to, own, limits.low)) points.low = {v, below};
    if (is_white_point(samples, up_to, own, limits.high)) points.high = {v, below};
    below = up_to;
  }
  return points;
}

/// The black and white point of a channel by byte (by high byte for 16-bit images), and the values needed to
/// find them.
struct ChannelCounts {
  ContrastChannels channels;
  uint64_t samples;
  ClipLimits limits;
  BytePoints points;

  ChannelCounts(const AutoContrastBlock& block, const TableInput& input, const Histogram& histogram, int c)
      : channels(block, c, input.channels),
        samples(input.pixels * static_cast<uint64_t>(channels.size())),
        limits(clip_limits(block, samples)),
        points(find_in(histogram.count, 0)) {}

  BytePoints find_in(const uint32_t (&count)[3][256], uint64_t below) const {
    return find_points([&](int v) { return channels.sum(count, v); }, below, samples, limits);
  }
  FramePoints find_deep(const AutoContrastStats& stats) const {
    const CountedBytes counted(points, limits);
    const auto find = [&](const BytePoint& point) {
      return find_in(stats.low_bytes[counted.table(point.byte)].count, point.below);
    };
    return deep_points(stats.tally.range, channels, limits, points, find(points.low).low.byte,
                       find(points.high).high.byte);
  }
};

/// Low-byte counters of a band. Each of the two points has the tables of ValueTables.
struct BandLowBytes {
  static constexpr int kTables = value_tables(false);
  static_assert(value_tables(true) <= kTables);
  uint32_t count[2][kTables][256];
  ValueTables tables[2];
  bool used[2];

  /// Selects the samples of channel `c` with high byte `byte` for the tables of `point`.
  void use(int point, bool gray, int c, int byte) {
    used[point] = true;
    const auto table = [this, point](int t) { return count[point][t]; };
    count_channel(tables[point], gray, c, static_cast<uint16_t>(byte * 256), 255, table);
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
  // Clipping can be switched on in any frame, so the layout always has this pass. It does nothing without
  // clipping.
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
    const CountedBytes counted(counts.points, counts.limits);
    for (int point = 0; point < 2; ++point)
      if (counted.byte[point] >= 0) found.use(point, gray, c, counted.byte[point]);
  }
  for (int y = band.begin; y < band.end; ++y)
    for (int point = 0; point < 2; ++point)
      if (found.used[point])
        count_in_ranges(in.samples<uint16_t>(y), in.format.row_samples(), found.tables[point]);
  for (int point = 0; point < 2; ++point)
    for (int t = 0; t < value_tables(gray); ++t)
      for (int v = 0; v < 256; ++v)
        add_shared(stats.low_bytes[point].count[channel_of(gray, t)][v], found.count[point][t][v]);
}

void AutoContrast::decide(const AutoContrastBlock& block, const TableInput& input, AutoContrastState& state,
                          AutoContrastStats& stats) {
  const int channels = input.channels;
  for (int c = 0; c < channels; ++c) {
    const ChannelCounts counts(block, input, stats.tally.histogram, c);
    const FramePoints own =
        input.most == 65535 ? counts.find_deep(stats)
                            : FramePoints{double(counts.points.low.byte), double(counts.points.high.byte)};
    move_points(block, own.low, own.high, state.seen == 0, c, state.points);
  }
  state.seen = 1;
  stats.points = state.points;
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
    move_points(block, static_cast<double>(low) / unit, static_cast<double>(high) / unit, state.seen == 0, c,
                state.points);
  }
  state.seen = 1;
  stats.points = state.points;
  stats.channels = static_cast<uint64_t>(channels);
}

void AutoContrast::read_stats(const void* stats, std::vector<Statistic>& out) const {
  const auto& s = *static_cast<const AutoContrastStats*>(stats);
  const int channels = static_cast<int>(s.channels);
  for (int c = 0; c < channels; ++c) {
    out.push_back({channel_statistic("low", c, channels), s.points.low[c]});
    out.push_back({channel_statistic("high", c, channels), s.points.high[c]});
  }
}

}  // namespace lensd
