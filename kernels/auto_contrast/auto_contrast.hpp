// auto_contrast: stretches the histogram so that its ends become 0 and 255.
//
// low is the lowest value v such that more than clip_low % of the samples are ≤ v. high is the highest value
// v such that more than clip_high % of the samples are ≥ v. Counts are exact. If low ≥ high, as in a picture
// of a single value, low is 0 and high is 255. out = clamp((v − low)·255/(high − low)), rounded. The ends
// come from all channels together, or from each channel separately (per_channel). `smooth` low-passes the
// ends from frame to frame; the first frame, also after a seek, uses its own ends.
//
// 16 bits: the histogram counts high bytes, so each v stands for 256 sample values. Before `smooth`, the low
// end is 256·low, or the lowest sample of its channels if that is higher. The high end is 256·high + 255, or
// the highest sample if that is lower. So the ends are the exact range of the samples if nothing is clipped.
//
// Formats: all. Aliasing: none. Border rule: none. Temporal reach: all frames since the last seek (state),
// none with smooth = 0. Exact: integer counts, doubles in prescribed order, then tables; with 16 bits, single
// precision instead of tables.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/table_filter.hpp"

namespace lensd {

struct AutoContrastParams {
  double clip_low = 0, clip_high = 0;
  bool per_channel = false;
  double smooth = 0.9;
};

struct AutoContrastBlock {
  double kept, taken;                    ///< weights of the previous ends and of the frame's; their sum is 1
  uint32_t clip_low_ppm, clip_high_ppm;  ///< maximum share of samples beyond each end, in millionths
  uint32_t per_channel;
  static AutoContrastBlock make(const AutoContrastParams& p) {
    return {p.smooth, 1 - p.smooth, static_cast<uint32_t>(std::lround(p.clip_low * 10000)),
            static_cast<uint32_t>(std::lround(p.clip_high * 10000)), p.per_channel ? 1u : 0u};
  }
};

/// Values that become 0 and 255, for each channel.
struct ContrastEnds {
  double low[3], high[3];
};

struct AutoContrastState {
  uint64_t seen;  ///< 0 until the first frame is processed
  ContrastEnds ends;
};

struct AutoContrastStats {
  RangeHistogram tally;
  ContrastEnds ends;
  uint64_t channels;
};

/// Returns the maximum number of samples that may lie beyond an end.
LENSD_HD constexpr uint64_t clip_limit(uint64_t samples, uint32_t ppm) {
  return samples * ppm / 1000000;
}

/// Returns true if a value is the low end: the lowest value with more than `limit` samples up to and
/// including it. `count`: samples with this value; `up_to`: samples with this value or a lower one.
LENSD_HD constexpr bool is_low_end(uint64_t up_to, uint64_t count, uint64_t limit) {
  return up_to > limit && up_to - count <= limit;
}
/// Returns true if a value is the high end: the highest value with more than `limit` samples from it upwards.
/// `samples`: number of all samples; `up_to` and `count` as in is_low_end().
LENSD_HD constexpr bool is_high_end(uint64_t samples, uint64_t up_to, uint64_t count, uint64_t limit) {
  const uint64_t above = samples - up_to;
  return above + count > limit && above <= limit;
}

/// Values that become black and white, before `smooth`.
struct OwnEnds {
  double low, high;
};

/// Returns the ends of channels [from, to) of a 16-bit image, scaled to 0 … 255. `low` and `high`: the ends
/// as high bytes.
LENSD_HD inline OwnEnds deep_ends(const RangeHistogram& tally, int from, int to, int low, int high) {
  int lowest = 65535, highest = 0;
  for (int k = from; k < to; ++k) {
    lowest = tally.lowest(k) < lowest ? tally.lowest(k) : lowest;
    highest = static_cast<int>(tally.highest[k]) > highest ? static_cast<int>(tally.highest[k]) : highest;
  }
  const int first = low * 256, last = high * 256 + 255;
  return {(first > lowest ? first : lowest) / 257.0, (last < highest ? last : highest) / 257.0};
}

/// Applies one step of the low-pass filter to the ends of channel `c`, or sets them in the `first` frame. If
/// `low` ≥ `high`, uses 0 and 255 instead of these two.
LENSD_HD inline void move_ends(const AutoContrastBlock& block, double low, double high, bool first, int c,
                               ContrastEnds& ends) {
  const double to_low = low < high ? low : 0, to_high = low < high ? high : 255;
  const double kept_low = block.kept * ends.low[c], kept_high = block.kept * ends.high[c];
  ends.low[c] = first ? to_low : kept_low + block.taken * to_low;
  ends.high[c] = first ? to_high : kept_high + block.taken * to_high;
}

/// Returns the table entry of channel `c` for value `v`.
LENSD_HD inline uint8_t contrast_value(const ContrastEnds& ends, int c, int v) {
  const double stretched = (v - ends.low[c]) * 255 / (ends.high[c] - ends.low[c]) + 0.5;
  return static_cast<uint8_t>(stretched < 0 ? 0 : stretched > 255 ? 255 : static_cast<int>(stretched));
}

class AutoContrast final : public TableFilter<AutoContrast, AutoContrastParams, AutoContrastBlock,
                                              AutoContrastState, AutoContrastStats> {
 public:
  static constexpr const char *count_name = "histogram", *decide_name = "ends";

  static FilterSchema make_schema();
  static void decide(const AutoContrastBlock& block, const TableInput& input, AutoContrastState& state,
                     AutoContrastStats& stats);
  static LENSD_HD AffineMap affine(const AutoContrastBlock&, const AutoContrastStats& stats, int c) {
    const double scale = 255 / (stats.ends.high[c] - stats.ends.low[c]),
                 offset = -257 * stats.ends.low[c] * scale;
    return {static_cast<float>(scale), static_cast<float>(offset)};
  }
  static LENSD_HD uint8_t table_value(const AutoContrastBlock&, const AutoContrastStats& stats, int c,
                                      int v) {
    return contrast_value(stats.ends, c, v);
  }
  void launch_decide(const PassArgs& args, CudaStream stream) const;
  void read_stats(const void* stats, std::vector<Statistic>& out) const override;
};

}  // namespace lensd
