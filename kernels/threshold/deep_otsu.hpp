// Otsu's level among all 65536 values of 16-bit samples: the lowest one with the largest variance between the
// classes.
//
//   pixels and sums by high byte ──▶ range: the high bytes that can have the level
//   pixels by value in the range ──▶ level
//
// The range usually has one to five high bytes, so its counters fit in fast memory. It never excludes the
// level: the variance is a convex function of the pixels and the sum of the lower class. For the levels of
// one high byte, these are in a triangle, so the largest variance is at one of its corners. Two corners are
// the levels at the ends of the high byte. At the third, the low bytes are 0 in the lower class and 255 in
// the upper one. A high byte is excluded if the third corner has less variance than the best of the ends.
#pragma once

#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

inline constexpr int kOtsuValues = 65536;
/// Maximum number of tables of counters per CPU worker.
inline constexpr int kOtsuTables = 6;

/// Sums of the samples' low bytes for R, G and B by high byte; grey uses only the first.
struct OtsuLowSums {
  uint64_t sum[3][256];
};

/// Number and sum of samples. An image has at most 2^28 pixels, so sums are below 2^44 and exact as doubles.
struct OtsuSums {
  uint64_t pixels, sum;

  LENSD_HD constexpr OtsuSums operator+(const OtsuSums& o) const { return {pixels + o.pixels, sum + o.sum}; }
  LENSD_HD constexpr OtsuSums operator-(const OtsuSums& o) const { return {pixels - o.pixels, sum - o.sum}; }
};

/// High bytes [begin, end) of a channel, whose values are counted one by one. `below`: samples below the
/// range; `all`: all samples.
struct OtsuRange {
  OtsuSums below, all;
  uint32_t begin, end;

  LENSD_HD constexpr uint32_t first_value() const { return begin * 256; }
  LENSD_HD constexpr uint32_t values() const { return (end - begin) * 256; }
};

/// Returns the sums of the samples with high byte `v`.
LENSD_HD constexpr OtsuSums otsu_sums(uint32_t v, uint32_t pixels, uint64_t low_sum) {
  return {pixels, 256ull * v * pixels + low_sum};
}

/// Returns the variance between two classes, given by pixels and sum, times the square of all pixels. It is 0
/// if a class is empty.
LENSD_HD inline double otsu_variance(double lower, double lower_sum, double upper, double upper_sum) {
  if (lower <= 0 || upper <= 0) return 0;
  const double distance = upper_sum / upper - lower_sum / lower;
  return lower * upper * distance * distance;
}
LENSD_HD inline double otsu_variance(const OtsuSums& lower, const OtsuSums& all) {
  const OtsuSums upper = all - lower;
  return otsu_variance(static_cast<double>(lower.pixels), static_cast<double>(lower.sum),
                       static_cast<double>(upper.pixels), static_cast<double>(upper.sum));
}

/// The best level so far. Starts as {}.
struct OtsuBest {
  double variance;
  uint32_t level;

  /// Keeps the better of the two levels. If the variances are equal, keeps the lower level. Levels may be
  /// offered in any order.
  LENSD_HD constexpr void offer(double other_variance, uint32_t other_level) {
    if (other_variance > variance || (other_variance == variance && other_level < level))
      variance = other_variance, level = other_level;
  }
};

/// Returns true if a level with high byte `v` can be the best. At least one high byte can. `ends`: the best
/// of the levels 256·v + 255, given as v; `own`: samples with this high byte; `below`: lower samples.
LENSD_HD inline bool otsu_in_range(const OtsuBest& ends, uint32_t v, const OtsuSums& own,
                                   const OtsuSums& below, const OtsuSums& all) {
  if (own.pixels == 0) return false;
  if (v == ends.level || ends.variance == 0)
    return true;  // if no variance is above 0, this is the only high byte with samples
  const OtsuSums above = all - below - own;
  const uint64_t lows = own.sum - 256ull * v * own.pixels;
  // The third corner is one of the ends if all low bytes are 0 or all are 255.
  if (lows == 0 || lows == 255 * own.pixels) return false;
  const double at_0 = static_cast<double>(255 * own.pixels - lows) / 255;
  const double at_255 = static_cast<double>(lows) / 255;
  const double bound = otsu_variance(
      static_cast<double>(below.pixels) + at_0, static_cast<double>(below.sum) + 256. * v * at_0,
      static_cast<double>(above.pixels) + at_255, static_cast<double>(above.sum) + (256. * v + 255) * at_255);
  // Class means differ by at least 1 and are at most 65535, so rounding changes a variance by less than 2e-10
  // of it.
  return bound * (1 + 1e-9) >= ends.variance;
}

/// Returns the level, or 0 if all samples are equal. `count`: pixels of each of the 65536 values. For the
/// oracle.
inline uint32_t deep_otsu_level(const uint32_t* count) {
  OtsuSums all{}, lower{};
  for (uint32_t v = 0; v < kOtsuValues; ++v) all = all + OtsuSums{count[v], uint64_t{v} * count[v]};
  OtsuBest best{};
  for (uint32_t v = 0; v < kOtsuValues; ++v) {
    lower = lower + OtsuSums{count[v], uint64_t{v} * count[v]};
    best.offer(otsu_variance(lower, all), v);
  }
  return best.level;
}

}  // namespace lensd
