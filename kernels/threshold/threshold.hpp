// threshold: outputs 255 where a channel is above the level, 0 elsewhere (cv::THRESH_BINARY); alpha passes
// through.
//
// 16 bits: outputs 65535 where v > 257 · level.
//
// otsu: each channel's level comes from the frame's own histogram (cv::THRESH_OTSU, bit for bit). For 16-bit
// images, it is the best of all 65536 values (deep_otsu.hpp). Statistics report the levels in use, in the
// unit of `level`, with a fraction for 16 bits.
//
// Formats: all. Aliasing: none. Border rule: none. Temporal reach: none. Exact: integer counts, then doubles
// in a fixed order. Source: N. Otsu, A threshold selection method from gray-level histograms, 1979.
//
// Switching `otsu` needs a new plan: otsu adds two passes, or four for 16-bit images.
#pragma once

#include <cstdint>

#include "core/graph/filter.hpp"
#include "kernels/common/tally.hpp"
#include "kernels/threshold/deep_otsu.hpp"

namespace lensd {

struct ThresholdParams {
  double level = 128;
  bool otsu = false;
};

struct ThresholdBlock {
  uint32_t level, deep;  ///< highest samples of 8 and of 16 bits that become 0
  static ThresholdBlock make(const ThresholdParams& p) {
    return {static_cast<uint32_t>(p.level), static_cast<uint32_t>(p.level * 257)};
  }
};

struct ThresholdStats {
  Histogram histogram;
  uint32_t level[3];  ///< highest samples that become 0
  uint32_t channels;
  uint32_t unit;  ///< sample value of level 1: 1, or 257 with 16 bits

  /// Sets `channels` and `unit`.
  LENSD_HD void describe(bool gray, bool deep) { channels = gray ? 1 : 3, unit = deep ? 257 : 1; }
};

/// Statistics of a 16-bit image with otsu.
struct DeepThresholdStats {
  ThresholdStats shown;  ///< the histogram counts samples by their high byte
  OtsuLowSums low_sums;
  OtsuRange range[3];
};

/// The class of values up to a level, in Otsu's method. Values are added one by one. Operations and their
/// order are those of cv::threshold, so the result is the same even if two variances are nearly equal.
struct OtsuClass {
  double weight = 0, mean = 0;

  /// Adds value `v` with probability `p`. Returns false if one class is practically empty.
  LENSD_HD bool grow(int v, double p) {
    constexpr double epsilon = 1.1920928955078125e-07;  // FLT_EPSILON
    mean *= weight;
    weight += p;
    const double rest = 1. - weight;
    const double smaller = weight < rest ? weight : rest, larger = weight < rest ? rest : weight;
    if (smaller < epsilon || larger > 1. - epsilon) return false;
    mean = (mean + v * p) / weight;
    return true;
  }

  /// Returns the variance between this class and the rest; `total` is the mean of all values.
  LENSD_HD double variance(double total) const {
    const double rest = 1. - weight;
    const double rest_mean = (total - weight * mean) / rest;
    return weight * rest * (mean - rest_mean) * (mean - rest_mean);
  }
};

/// Returns the lowest level with the largest variance between the classes, or 0 if all pixels are equal.
/// `count`: histogram of 256 values.
inline uint32_t otsu_level(const uint32_t* count, double pixels) {
  const double scale = 1. / pixels;
  double total = 0;
  for (int i = 0; i < 256; ++i) total += i * static_cast<double>(count[i]);
  total *= scale;
  OtsuClass below;
  double best = 0;
  uint32_t level = 0;
  for (int i = 0; i < 256; ++i) {
    if (!below.grow(i, count[i] * scale)) continue;
    const double variance = below.variance(total);
    if (variance > best) best = variance, level = static_cast<uint32_t>(i);
  }
  return level;
}

class Threshold final : public FilterBase<Threshold, ThresholdParams, ThresholdBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void read_stats(const void* stats, std::vector<Statistic>& out) const override;
  void reference(ReferenceRun& run) const override;

 private:
  void count(const PassArgs& args, Band band) const;
  void launch_count(const PassArgs& args, CudaStream stream) const;
  void choose_level(const PassArgs& args, Band band) const;
  void launch_choose_level(const PassArgs& args, CudaStream stream) const;
  std::vector<PassSpec> deep_otsu_passes(const ImageFormat& format) const;
  void count_high_bytes(const PassArgs& args, Band band) const;
  void launch_count_high_bytes(const PassArgs& args, CudaStream stream) const;
  void choose_range(const PassArgs& args, Band band) const;
  void launch_choose_range(const PassArgs& args, CudaStream stream) const;
  void count_values(const PassArgs& args, Band band) const;
  void launch_count_values(const PassArgs& args, CudaStream stream) const;
  void choose_deep_level(const PassArgs& args, Band band) const;
  void launch_choose_deep_level(const PassArgs& args, CudaStream stream) const;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void apply_deep(const PassArgs& args, Band band, const uint32_t* level) const;

  bool otsu_ = false;  ///< `otsu` from configure()
};

}  // namespace lensd
