// auto_contrast: stretches the histogram from its black point `low` to its white point `high`.
//
// low is the lowest value v such that more than clip_low % of the samples are ≤ v. high is the highest value
// v such that more than clip_high % of the samples are ≥ v. Counts are exact. If low ≥ high, as in a picture
// of a single value, low is 0 and high is 255. out = clamp((v − low)·255/(high − low)), rounded. The points
// come from all channels together, or from each channel separately (per_channel). `smooth` low-passes the
// points from frame to frame; the first frame, and the first after a seek, uses its own points.
//
// 16 bits: the points are exact to one of the 65536 values. High bytes are counted first. If a point is
// clipped, a second pass counts the low bytes of the samples with this point's high byte. A point that is not
// clipped is the lowest or the highest sample, which is known from the first pass.
//
// Formats: all. Aliasing: none. Border rule: none. Temporal reach: all frames since the last seek (state),
// none with smooth = 0. Exact: integer counts, doubles in a fixed order, then tables; for 16-bit images,
// single precision instead of tables, within 1 of double precision.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/table/table_filter.hpp"

namespace lensd {

struct AutoContrastParams {
  double clip_low = 0, clip_high = 0;
  bool per_channel = false;
  double smooth = 0.9;
};

struct AutoContrastBlock {
  double kept, taken;  ///< weights of the previous and of the current frame's points; their sum is 1
  uint32_t clip_low_ppm, clip_high_ppm;  ///< maximum share of samples beyond each point, in millionths
  uint32_t per_channel;
  static AutoContrastBlock make(const AutoContrastParams& p) {
    return {p.smooth, 1 - p.smooth, static_cast<uint32_t>(std::lround(p.clip_low * 10000)),
            static_cast<uint32_t>(std::lround(p.clip_high * 10000)), p.per_channel ? 1u : 0u};
  }
};

/// Black and white point of each channel: the values that become 0 and 255.
struct ContrastPoints {
  double low[3], high[3];
};

struct AutoContrastState {
  uint64_t seen;  ///< 0 until the first frame is processed
  ContrastPoints points;
};

struct AutoContrastStats {
  RangeHistogram tally;
  Histogram low_bytes[2];  ///< counts by low byte: the two tables of CountedBytes
  ContrastPoints points;
  uint64_t channels;
};

/// Maximum number of samples that may lie beyond each point. At 0 the point is not clipped.
struct ClipLimits {
  uint64_t low, high;
};

/// Returns the limits for channels whose points come from `samples` samples.
LENSD_HD constexpr ClipLimits clip_limits(const AutoContrastBlock& block, uint64_t samples) {
  return {samples * block.clip_low_ppm / 1000000, samples * block.clip_high_ppm / 1000000};
}

/// Channels [from, to), whose samples determine the points of a channel.
struct ContrastChannels {
  int from, to;

  LENSD_HD constexpr ContrastChannels(const AutoContrastBlock& block, int c, int channels)
      : from(block.per_channel ? c : 0), to(block.per_channel ? c + 1 : channels) {}
  LENSD_HD constexpr int size() const { return to - from; }
  /// Returns the sum of the channels' counters of byte `v`.
  LENSD_HD uint32_t sum(const uint32_t (&count)[3][256], int v) const {
    uint32_t total = 0;
    for (int c = from; c < to; ++c) total += count[c][v];
    return total;
  }
};

/// Returns true if a value is the black point: the lowest value with more than `limit` samples up to and
/// including it. `count`: samples with this value; `up_to`: samples with this value or a lower one.
LENSD_HD constexpr bool is_black_point(uint64_t up_to, uint64_t count, uint64_t limit) {
  return up_to > limit && up_to - count <= limit;
}
/// Returns true if a value is the white point: the highest value with more than `limit` samples from it
/// upwards. `samples`: number of all samples; `up_to` and `count` as in is_black_point().
LENSD_HD constexpr bool is_white_point(uint64_t samples, uint64_t up_to, uint64_t count, uint64_t limit) {
  const uint64_t above = samples - up_to;
  return above + count > limit && above <= limit;
}

/// Returns true if the black or the white point is clipped. All channels have the same limits. `pixels`:
/// number of pixels of the image.
LENSD_HD constexpr bool is_clipped(const AutoContrastBlock& block, uint64_t pixels, int channels) {
  const int size = ContrastChannels(block, 0, channels).size();
  const ClipLimits limits = clip_limits(block, pixels * static_cast<uint64_t>(size));
  return limits.low > 0 || limits.high > 0;
}

/// A byte that is a black or white point, or the high byte of such a point. `below`: number of samples with
/// lower bytes.
struct BytePoint {
  int byte;
  uint64_t below;
};
struct BytePoints {
  BytePoint low, high;
};

/// For each of the two tables, the high byte whose samples the table counts by low byte, or −1 if the table
/// is not used. If both points have the same high byte, they use the first table.
struct CountedBytes {
  int byte[2];

  LENSD_HD constexpr CountedBytes(const BytePoints& high_bytes, const ClipLimits& limits) {
    const int low = high_bytes.low.byte, high = high_bytes.high.byte;
    byte[0] = limits.low > 0 || (limits.high > 0 && low == high) ? low : -1;
    byte[1] = limits.high > 0 && low != high ? high : -1;
  }
  /// Returns the table of a point with high byte `high`.
  LENSD_HD constexpr int table(int high) const { return byte[0] == high ? 0 : 1; }
};

/// Black and white point of a frame, before `smooth`.
struct FramePoints {
  double low, high;
};

/// Returns the points of 16-bit channels, scaled to 0 … 255. `black_low_byte`, `white_low_byte`: low bytes of
/// the two points; used only if the point is clipped.
LENSD_HD inline FramePoints deep_points(const SampleRange& range, const ContrastChannels& channels,
                                        const ClipLimits& limits, const BytePoints& high_bytes,
                                        int black_low_byte, int white_low_byte) {
  int lowest = 65535, highest = 0;
  for (int c = channels.from; c < channels.to; ++c) {
    lowest = range.lowest(c) < lowest ? range.lowest(c) : lowest;
    highest = static_cast<int>(range.highest[c]) > highest ? static_cast<int>(range.highest[c]) : highest;
  }
  const int low = limits.low > 0 ? high_bytes.low.byte * 256 + black_low_byte : lowest,
            high = limits.high > 0 ? high_bytes.high.byte * 256 + white_low_byte : highest;
  return {low / 257.0, high / 257.0};
}

/// Applies one step of the low-pass filter to the points of channel `c`. If `first`, sets the points without
/// filtering. If `low` ≥ `high`, uses 0 and 255 instead of these two.
LENSD_HD inline void move_points(const AutoContrastBlock& block, double low, double high, bool first, int c,
                                 ContrastPoints& points) {
  const double to_low = low < high ? low : 0, to_high = low < high ? high : 255;
  const double kept_low = block.kept * points.low[c], kept_high = block.kept * points.high[c];
  points.low[c] = first ? to_low : kept_low + block.taken * to_low;
  points.high[c] = first ? to_high : kept_high + block.taken * to_high;
}

/// Returns the table entry of channel `c` for value `v`.
LENSD_HD inline uint8_t contrast_value(const ContrastPoints& points, int c, int v) {
  const double stretched = (v - points.low[c]) * 255 / (points.high[c] - points.low[c]) + 0.5;
  return static_cast<uint8_t>(stretched < 0 ? 0 : stretched > 255 ? 255 : static_cast<int>(stretched));
}

class AutoContrast final : public TableFilter<AutoContrast, AutoContrastParams, AutoContrastBlock,
                                              AutoContrastState, AutoContrastStats> {
 public:
  static constexpr const char *count_name = "histogram", *decide_name = "ends";

  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  static void decide(const AutoContrastBlock& block, const TableInput& input, AutoContrastState& state,
                     AutoContrastStats& stats);
  static void reference_decide(const AutoContrastBlock& block, const Image& in, AutoContrastState& state,
                               AutoContrastStats& stats);
  static LENSD_HD AffineMap affine(const AutoContrastBlock&, const AutoContrastStats& stats, int c) {
    const double scale = 255 / (stats.points.high[c] - stats.points.low[c]), low = 257 * stats.points.low[c];
    const double base = static_cast<int>(low + 0.5), offset = (base - low) * scale;
    return {static_cast<float>(base), static_cast<float>(scale), static_cast<float>(offset)};
  }
  static LENSD_HD uint8_t table_value(const AutoContrastBlock&, const AutoContrastStats& stats, int c,
                                      int v) {
    return contrast_value(stats.points, c, v);
  }
  void launch_decide(const PassArgs& args, CudaStream stream) const;
  void read_stats(const void* stats, std::vector<Statistic>& out) const override;

 private:
  void count_low_bytes(const PassArgs& args, Band band) const;
  void launch_count_low_bytes(const PassArgs& args, CudaStream stream) const;
};

}  // namespace lensd
