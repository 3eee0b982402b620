// The passes that find Otsu's levels of 16-bit images on the CPU.
#include "kernels/threshold/deep_otsu.hpp"

#include <algorithm>

#include "kernels/common/add_shared.hpp"
#include "kernels/common/count_values.hpp"
#include "kernels/threshold/threshold.hpp"

namespace lensd {
namespace {

/// Tables of a band. Pixels and sum of low bytes are in one counter, so that one addition counts a sample. A
/// table has at most about a quarter of an image's 2^28 pixels, so pixels fit in 28 bits and sums in 36.
struct HighByteTables {
  static constexpr int kCopies = 4, kTables = 3 * kCopies, kPixelShift = 36;
  uint64_t count[kTables][256];

  static constexpr int used(bool gray) { return gray ? kCopies : kTables; }
};

template <bool kGray>
void count_row(const uint16_t* row, size_t samples, HighByteTables& tables) {
  const auto count = [&tables](int lane, uint32_t v) {
    if (!is_alpha(kGray, lane))
      tables.count[table_of(kGray, lane, HighByteTables::kCopies)][v >> 8] +=
          (uint64_t{1} << HighByteTables::kPixelShift) + (v & 255);
  };
  constexpr int lanes = 4 * HighByteTables::kCopies;
  size_t i = 0;
  for (; i + lanes <= samples; i += lanes)
    for (int k = 0; k < lanes; ++k) count(k, row[i + static_cast<size_t>(k)]);
  for (int k = 0; i < samples; ++k, ++i) count(k, row[i]);
}

static_assert(value_tables(true) <= kOtsuTables && value_tables(false) <= kOtsuTables);

uint32_t* value_counters(const PassArgs& args, uint32_t channel) {
  return reinterpret_cast<uint32_t*>(args.scratch[0]) + channel * kOtsuValues;
}

OtsuSums sums_of(const DeepThresholdStats& stats, uint32_t c, uint32_t v) {
  return otsu_sums(v, stats.shown.histogram.count[c][v], stats.low_sums.sum[c][v]);
}

/// Returns the high bytes of channel `c` that can have the level.
OtsuRange range_of(const DeepThresholdStats& stats, uint32_t c) {
  OtsuRange range{};
  for (uint32_t v = 0; v < 256; ++v) range.all = range.all + sums_of(stats, c, v);
  OtsuBest best{};
  OtsuSums lower{};
  for (uint32_t v = 0; v < 256; ++v) {
    lower = lower + sums_of(stats, c, v);
    best.offer(otsu_variance(lower, range.all), v);
  }
  lower = {};
  for (uint32_t v = 0; v < 256; ++v) {
    const OtsuSums own = sums_of(stats, c, v);
    if (otsu_in_range(best, v, own, lower, range.all)) {
      if (range.end == 0) range.begin = v, range.below = lower;
      range.end = v + 1;
    }
    lower = lower + own;
  }
  return range;
}

}  // namespace

std::vector<PassSpec> Threshold::deep_otsu_passes(const ImageFormat& format) const {
  const int height = format.extent.height;
  const double bytes = static_cast<double>(format.row_bytes()) * height;
  return {{.name = "histogram",
           .run = cpu_pass<&Threshold::count_high_bytes>,
           .launch = cuda_pass<&Threshold::launch_count_high_bytes>,
           .items = height,
           .grain = tally_grain(format.extent),
           .bytes = bytes,
           .operations = bytes},
          {.name = "range",
           .run = cpu_pass<&Threshold::choose_range>,
           .launch = cuda_pass<&Threshold::launch_choose_range>,
           .bytes = sizeof(Histogram) + sizeof(OtsuLowSums),
           .operations = 256 * 32},
          {.name = "values",
           .run = cpu_pass<&Threshold::count_values>,
           .launch = cuda_pass<&Threshold::launch_count_values>,
           .items = height,
           .grain = tally_grain(format.extent),
           .bytes = bytes,
           .operations = bytes},
          {.name = "otsu",
           .run = cpu_pass<&Threshold::choose_deep_level>,
           .launch = cuda_pass<&Threshold::launch_choose_deep_level>,
           .bytes = 256 * sizeof(uint32_t),
           .operations = 256 * 16}};
}

void Threshold::count_high_bytes(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  auto& stats = *static_cast<DeepThresholdStats*>(args.stats);
  const bool gray = in.channels() == 1;
  HighByteTables tables{};
  for (int y = band.begin; y < band.end; ++y)
    (gray ? count_row<true> : count_row<false>)(in.samples<uint16_t>(y), in.format.row_samples(), tables);
  for (int t = 0; t < HighByteTables::used(gray); ++t)
    for (int v = 0; v < 256; ++v) {
      const int c = channel_of(gray, t);
      const uint64_t count = tables.count[t][v], pixels = count >> HighByteTables::kPixelShift;
      add_shared(stats.shown.histogram.count[c][v], static_cast<uint32_t>(pixels));
      add_shared(stats.low_sums.sum[c][v], count - (pixels << HighByteTables::kPixelShift));
    }
}

void Threshold::choose_range(const PassArgs& args, Band) const {
  auto& stats = *static_cast<DeepThresholdStats*>(args.stats);
  stats.shown.describe(args.in[0].channels() == 1, true);
  for (uint32_t c = 0; c < stats.shown.channels; ++c) {
    stats.range[c] = range_of(stats, c);
    std::fill_n(value_counters(args, c), stats.range[c].values(), 0u);
  }
}

void Threshold::count_values(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  const auto& stats = *static_cast<const DeepThresholdStats*>(args.stats);
  const bool gray = in.channels() == 1;
  const int used = value_tables(gray);
  auto* counters = reinterpret_cast<uint32_t*>(args.worker);
  const auto table = [counters](int t) { return counters + t * kOtsuValues; };
  for (int t = 0; t < used; ++t) std::fill_n(table(t), stats.range[channel_of(gray, t)].values(), 0u);
  ValueTables tables{};
  for (int c = 0; c < (gray ? 1 : 3); ++c) {
    const OtsuRange& range = stats.range[c];
    count_channel(tables, gray, c, static_cast<uint16_t>(range.first_value()),
                  static_cast<uint16_t>(range.values() - 1), table);
  }
  for (int y = band.begin; y < band.end; ++y)
    count_in_ranges(in.samples<uint16_t>(y), in.format.row_samples(), tables);
  for (int t = 0; t < used; ++t) {
    const auto c = static_cast<uint32_t>(channel_of(gray, t));
    uint32_t* total = value_counters(args, c);
    for (uint32_t i = 0; i < stats.range[c].values(); ++i) add_shared(total[i], table(t)[i]);
  }
}

void Threshold::choose_deep_level(const PassArgs& args, Band) const {
  auto& stats = *static_cast<DeepThresholdStats*>(args.stats);
  for (uint32_t c = 0; c < stats.shown.channels; ++c) {
    const OtsuRange& range = stats.range[c];
    const uint32_t* counters = value_counters(args, c);
    OtsuSums lower = range.below;
    OtsuBest best{};
    for (uint32_t i = 0; i < range.values(); ++i) {
      if (counters[i] == 0) continue;
      const uint32_t v = range.first_value() + i;
      lower = lower + OtsuSums{counters[i], uint64_t{v} * counters[i]};
      best.offer(otsu_variance(lower, range.all), v);
    }
    stats.shown.level[c] = best.level;
  }
}

}  // namespace lensd
