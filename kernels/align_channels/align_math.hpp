// Geometry, scores and decisions of the shift search, shared by both backends and the oracle. Uses integers,
// and doubles in a fixed order of operations.
#pragma once

#include <algorithm>

#include "core/image/view.hpp"
#include "kernels/common/tally.hpp"

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

/// Measured shifts of red and blue relative to green. `range`: range of each channel's samples, for 16-bit
/// images.
struct AlignStats {
  AlignShift shift[2];
  SampleRange range;
};

/// Scales the range of a 16-bit channel linearly to 0 … 255. The correlation changes only by rounding.
struct AlignBits {
  uint32_t lowest;
  uint32_t scale;  ///< factor from a sample value to 8 bits, in 1/65536

  LENSD_HD static AlignBits of(uint32_t lowest, uint32_t highest) {
    const uint32_t range = highest - lowest;
    return {lowest, highest > lowest ? ((255u << 16) + range / 2) / range : 0};
  }
  LENSD_HD uint8_t operator()(uint32_t v) const {
    return static_cast<uint8_t>(((v - lowest) * scale + 32768) >> 16);
  }
};
LENSD_HD inline AlignBits align_bits(const SampleRange& range, int c) {
  return AlignBits::of(static_cast<uint32_t>(range.lowest(c)), range.highest[c]);
}

/// Sums over a level's window for one candidate shift of one channel.
struct AlignSums {
  uint64_t value, square, product;  ///< Σc, Σc², Σg·c; c: shifted channel, g: green
};
struct AlignGreen {
  uint64_t value, square;
};

/// One level of the pyramid: contiguous planes of R, G and B in the first scratch block.
struct AlignLevel {
  Extent extent;
  int pitch = 0;                   ///< bytes per row; at least the width + 8: kernels load whole words
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

  /// Levels smaller than full size are at least 16 pixels wide and high. A window covers at least half of
  /// each side, so small pictures allow only smaller shifts.
  static AlignGeometry make(const AlignParams& params, Extent extent) {
    AlignGeometry g;
    g.levels = 1;
    while (g.levels < params.levels && std::min(extent.width, extent.height) >> g.levels >= 16) ++g.levels;
    for (int l = 0; l < g.levels; ++l) {
      AlignLevel& level = g.level[l];
      const int most = (params.max_shift + (1 << l) - 1) >> l;
      level.extent = {extent.width >> l, extent.height >> l};
      level.pitch = (level.extent.width + 8 + 63) / 64 * 64;
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

/// Returns the best candidate of level `l` for `channel` (0 red, 1 blue). Ties: the prediction wins, then the
/// first candidate.
LENSD_HD inline AlignShift align_decide(const AlignGeometry& g, const AlignWork& work, int l, int channel) {
  const AlignLevel& level = g.level[l];
  const bool smallest = l == g.levels - 1;
  const AlignShift prediction = smallest ? AlignShift{} : level.prediction(work.shift[l + 1][channel]);
  const AlignSums* sums = work.sums(l, channel, g);
  const int centre = level.candidates() / 2;
  AlignShift best = prediction;
  double best_score = align_score(level.count(), work.green[l], sums[centre]);
  for (int i = 0; i < level.candidates(); ++i) {
    const AlignShift shift = level.candidate(prediction, i);
    if (i == centre || !level.allowed(shift)) continue;
    const double score = align_score(level.count(), work.green[l], sums[i]);
    if (score > best_score) best_score = score, best = shift;
  }
  return best;
}

}  // namespace lensd
