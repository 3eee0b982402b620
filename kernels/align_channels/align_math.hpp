// Geometry, scores and decisions of the shift search, shared by both backends and the oracle. Uses integers,
// and doubles in a fixed order of operations.
#pragma once

#include <algorithm>

#include "core/image/view.hpp"

namespace lensd {

struct AlignParams {
  int max_shift = 15, levels = 4;
};

/// Empty: changes of the parameters need a new plan.
struct AlignBlock {
  static AlignBlock make(const AlignParams&) { return {}; }
};

struct AlignShift {
  int x = 0, y = 0;
  bool operator==(const AlignShift&) const = default;
};

/// Measured shifts of red and blue relative to green.
struct AlignStats {
  AlignShift shift[2];
};

/// Subtracted from 16-bit samples before they are summed, so that they fit 16-bit signed numbers. The
/// correlation does not change.
inline constexpr int kAlignMiddle = 32768;

/// Sums over a level's window for one candidate shift of one channel.
struct AlignSums {
  int64_t value, square, product;  ///< Σc, Σc², Σg·c; c: shifted channel, g: green
};
struct AlignGreen {
  int64_t value, square;
};

/// One level of the pyramid: contiguous planes of R, G and B in the first scratch block.
struct AlignLevel {
  Extent extent;
  int pitch = 0;                   ///< bytes per row; at least width + 8 samples: kernels load whole words
  int margin_x = 0, margin_y = 0;  ///< margin around the window; also the maximum shift of a candidate
  int reach = 0;                   ///< maximum offset of a candidate from the prediction, in x and in y

  LENSD_HD int side() const { return 2 * reach + 1; }
  LENSD_HD int candidates() const { return side() * side(); }
  LENSD_HD uint64_t count() const {
    return static_cast<uint64_t>(extent.width - 2 * margin_x) *
           static_cast<uint64_t>(extent.height - 2 * margin_y);
  }
  LENSD_HD size_t plane_bytes() const {
    return static_cast<size_t>(pitch) * static_cast<size_t>(extent.height);
  }
  LENSD_HD bool allowed(AlignShift s) const {
    return s.x >= -margin_x && s.x <= margin_x && s.y >= -margin_y && s.y <= margin_y;
  }
  LENSD_HD AlignShift candidate(AlignShift prediction, int i) const {
    return {prediction.x + i % side() - reach, prediction.y + i / side() - reach};
  }
  /// Returns twice the next smaller level's shift, clamped to this level's margins.
  LENSD_HD AlignShift prediction(AlignShift smaller) const {
    const auto clamped = [](int v, int limit) { return v < -limit ? -limit : v > limit ? limit : v; };
    return {clamped(2 * smaller.x, margin_x), clamped(2 * smaller.y, margin_y)};
  }
};

inline constexpr int kAlignMaxLevels = 6, kAlignMaxShift = 31;

/// Geometry of the search, derived from parameters and size; passed to kernels by value.
struct AlignGeometry {
  AlignLevel level[kAlignMaxLevels];
  int levels = 1;
  bool deep = false;  ///< the planes have 16-bit samples

  /// Levels smaller than full size are at least 16 pixels wide and high. A window covers at least half of
  /// each side, so small pictures allow only smaller shifts.
  static AlignGeometry make(const AlignParams& params, const ImageFormat& format) {
    AlignGeometry g;
    const Extent extent = format.extent;
    const int bytes = sample_bytes(format.format);
    g.levels = 1, g.deep = bytes == 2;
    while (g.levels < params.levels && std::min(extent.width, extent.height) >> g.levels >= 16) ++g.levels;
    for (int l = 0; l < g.levels; ++l) {
      AlignLevel& level = g.level[l];
      const int most = (params.max_shift + (1 << l) - 1) >> l;
      level.extent = {extent.width >> l, extent.height >> l};
      level.pitch = (level.extent.width + 8 + 63) / 64 * 64 * bytes;
      level.margin_x = std::min(most, level.extent.width / 4);
      level.margin_y = std::min(most, level.extent.height / 4);
      const bool smallest = l == g.levels - 1;
      // At full size the reach is one pixel, because a candidate costs a pass over the whole picture.
      level.reach = smallest ? std::max(level.margin_x, level.margin_y) : l == 0 ? 1 : 2;
    }
    return g;
  }

  size_t plane_offset(int l) const {
    size_t offset = 0;
    for (int i = 0; i < l; ++i) offset += 3 * level[i].plane_bytes();
    return offset;
  }
};

/// Work memory in scratch: the shifts and green's sums of all levels, followed by the AlignSums of all
/// candidates.
struct AlignWork {
  AlignShift shift[kAlignMaxLevels][2];  ///< shifts of red and of blue
  AlignGreen green[kAlignMaxLevels];
  LENSD_HD AlignSums* sums(int l, int channel, const AlignGeometry& g) {
    AlignSums* at = reinterpret_cast<AlignSums*>(this + 1);
    for (int i = 0; i < l; ++i) at += 2 * g.level[i].candidates();
    return at + channel * g.level[l].candidates();
  }
  LENSD_HD const AlignSums* sums(int l, int channel, const AlignGeometry& g) const {
    return const_cast<AlignWork*>(this)->sums(l, channel, g);
  }
  static size_t bytes(const AlignGeometry& g) {
    size_t candidates = 0;
    for (int l = 0; l < g.levels; ++l) candidates += 2 * static_cast<size_t>(g.level[l].candidates());
    return sizeof(AlignWork) + candidates * sizeof(AlignSums);
  }
};

/// Returns r·|r| for the normalised correlation r, which orders candidates like r. Returns −2 if a window is
/// flat and the correlation is undefined.
LENSD_HD inline double align_score(uint64_t count, const AlignGreen& green, const AlignSums& c) {
  const double n = static_cast<double>(count);
  const double sum_g = static_cast<double>(green.value), sum_c = static_cast<double>(c.value);
  const double covariance = n * static_cast<double>(c.product) - sum_g * sum_c;
  const double variance_g = n * static_cast<double>(green.square) - sum_g * sum_g;
  const double variance_c = n * static_cast<double>(c.square) - sum_c * sum_c;
  if (variance_g <= 0 || variance_c <= 0) return -2;
  const double r2 = covariance * covariance / (variance_g * variance_c);
  return covariance < 0 ? -r2 : r2;
}

/// Does the same for 16-bit samples. Their sums can have more digits than a double. So the means are
/// subtracted first, in integers; a flat window then has the variance 0.
LENSD_HD inline double align_deep_score(uint64_t count, AlignGreen green, AlignSums c) {
  const int64_t n = static_cast<int64_t>(count);
  const int64_t mean_g = green.value / n, mean_c = c.value / n;
  c.product += n * mean_g * mean_c - mean_g * c.value - mean_c * green.value;
  c.square += n * mean_c * mean_c - 2 * mean_c * c.value;
  green.square += n * mean_g * mean_g - 2 * mean_g * green.value;
  c.value -= n * mean_c, green.value -= n * mean_g;
  return align_score(count, green, c);
}

/// Returns the score of a candidate of level `l`, whose sums are `sums`.
LENSD_HD inline double align_score(const AlignGeometry& g, const AlignWork& work, int l,
                                   const AlignSums& sums) {
  const uint64_t count = g.level[l].count();
  return g.deep ? align_deep_score(count, work.green[l], sums) : align_score(count, work.green[l], sums);
}

/// Returns the best candidate of level `l` for `channel` (0 red, 1 blue). Ties: the prediction wins, then the
/// first candidate.
LENSD_HD inline AlignShift align_decide(const AlignGeometry& g, const AlignWork& work, int l, int channel) {
  const AlignLevel& level = g.level[l];
  const bool smallest = l == g.levels - 1;
  const AlignShift prediction = smallest ? AlignShift{} : level.prediction(work.shift[l + 1][channel]);
  const AlignSums* sums = work.sums(l, channel, g);
  const int centre = level.candidates() / 2;
  AlignShift best = prediction;
  double best_score = align_score(g, work, l, sums[centre]);
  for (int i = 0; i < level.candidates(); ++i) {
    const AlignShift shift = level.candidate(prediction, i);
    if (i == centre || !level.allowed(shift)) continue;
    const double score = align_score(g, work, l, sums[i]);
    if (score > best_score) best_score = score, best = shift;
  }
  return best;
}

}  // namespace lensd
