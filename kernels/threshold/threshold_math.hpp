#pragma once

#include <cstdint>

#include "kernels/common/tally.hpp"

namespace lensd {

struct ThresholdParams {
  int level = 128;
  bool otsu = false;
};

struct ThresholdBlock {
  uint32_t level;
  static ThresholdBlock make(const ThresholdParams& p) { return {static_cast<uint32_t>(p.level)}; }
};

/// Leads with the counters that the first pass adds to.
struct ThresholdStats {
  Histogram histogram;
  uint32_t level[3];
  uint32_t channels;
};

/// Otsu's class below the level, grown value by value. Operations and their order are those of cv::threshold,
/// so that the level is the same where two are nearly as good.
struct OtsuClass {
  double weight = 0, mean = 0;

  /// Takes in value `v` with probability `p`; false where one class is as good as empty.
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

  /// Variance between this class and the rest; `total` is the mean of all.
  LENSD_HD double variance(double total) const {
    const double rest = 1. - weight;
    const double rest_mean = (total - weight * mean) / rest;
    return weight * rest * (mean - rest_mean) * (mean - rest_mean);
  }
};

/// The level with the largest variance between the classes, the lowest of equals; 0 for a flat picture.
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

}  // namespace lensd
