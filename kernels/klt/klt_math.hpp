// Definitions that both backends and the oracle of klt share: parameters, the layout of the state,
// fixed-point samples and the 2×2 solve.
//
// Levels of the pyramid hold grey levels as uint8_t or, for 16-bit images, as uint16_t with 7 fraction bits
// (0 to 32640). Interpolated samples have 7 fraction bits, positions have 15. Derivatives are 32 times the
// slope in grey levels per pixel; differences have 5 fraction bits, as in OpenCV. Samples, derivatives and
// differences fit in 16 bits. Products are summed in integers and doubles are combined in the order written
// here, so all backends output the same bytes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/image/tracks.hpp"
#include "core/image/view.hpp"
#include "kernels/corners/corners.hpp"
#include "kernels/grayscale/grayscale.hpp"

namespace lensd {

inline constexpr int kKltMaxLevels = 6;   ///< maximum number of levels above the picture itself
inline constexpr int kKltMaxWindow = 31;  ///< maximum columns of a window; a warp has 32 lanes
/// Maximum mean difference of a match, in grey levels; larger ones are rejected.
inline constexpr double kKltMaxResidual = 64;

struct KltParams {
  int max_features = 1000;
  double quality = 0.01, min_distance = 8;
  int block = 3, window = 21, levels = 3, iterations = 20;
  double epsilon = 0.01, min_eigen = 1e-4, fb_threshold = 1, redetect_below = 0.7;
  bool gain_bias = false, affine_check = false;
};

struct KltBlock {
  CornerParams corners;
  LumaBlock luma;
  int iterations;
  uint32_t redetect_below;  ///< detect corners if fewer tracks are alive; always after a cut
  double epsilon_squared, min_eigen;
  float fb_threshold;     ///< maximum forward-backward error in pixels; 0: no check
  float crowded_squared;  ///< squared distance below which the younger of two tracks ends
  bool gain_bias;

  static KltBlock make(const KltParams& p) {
    const float crowded = static_cast<float>(p.min_distance) * 0.5f;
    return {.corners = {p.block, static_cast<float>(p.quality), static_cast<float>(p.min_distance),
                        p.max_features},
            .luma = LumaBlock::make(LumaWeights::bt601),
            .iterations = p.iterations,
            .redetect_below = static_cast<uint32_t>(std::ceil(p.redetect_below * p.max_features)),
            .epsilon_squared = p.epsilon * p.epsilon,
            .min_eigen = p.min_eigen,
            .fb_threshold = static_cast<float>(p.fb_threshold),
            .crowded_squared = crowded * crowded,
            .gain_bias = p.gain_bias};
  }
};

/// State of a track for affine_check, without the pixels of its first patch.
struct KltFirst {
  float warp[4] = {1, 0, 0, 1};  ///< 2×2 matrix from the first window to the current one, row-major
  int32_t x = 0, y = 0;          ///< position of the detected corner
};

/// Layout of one half of the state:
///   TrackTable and its tracks (Layout::lasting_bytes) · pyramid levels · a KltFirst for each slot
///   · first patches
/// First patches of even slots are in halves[0], those of odd slots in halves[1]. A patch is written once and
/// then stays in its half.
struct KltShape {
  struct Level {
    Extent extent;
    int pitch = 0;  ///< bytes
    size_t offset = 0;
  };
  int capacity = 0, window = 0, levels = 0;
  bool deep = false;  ///< pixels are uint16_t, see klt_fixed()
  Level level[kKltMaxLevels + 1];
  size_t lasting_bytes = 0, first_offset = 0, patch_offset = 0, bytes = 0;
  int patch_bytes = 0;  ///< bytes of a first patch; 0 without affine_check

  /// Padding before and after a level, in bytes. Windows may read it; the values read are masked out.
  static constexpr size_t kSlack = 256;

  static KltShape make(Extent extent, const KltParams& p, bool deep) {
    const auto up = [](size_t n) { return (n + 255) / 256 * 256; };
    const size_t pixel_bytes = deep ? 2 : 1;
    KltShape s;
    s.capacity = p.max_features, s.window = p.window, s.deep = deep;
    s.lasting_bytes = track_table_bytes(p.max_features);
    size_t at = up(s.lasting_bytes) + kSlack;
    for (int i = 0; i <= p.levels; ++i) {
      if (i > 0 && (extent.width <= p.window || extent.height <= p.window)) break;
      const size_t pitch = (static_cast<size_t>(extent.width) * pixel_bytes + 63) / 64 * 64;
      s.levels = i;
      s.level[i] = {extent, static_cast<int>(pitch), at};
      at = up(at + pitch * static_cast<size_t>(extent.height) + kSlack);
      extent = {(extent.width + 1) / 2, (extent.height + 1) / 2};
    }
    if (p.affine_check) {
      s.patch_bytes = (p.window + 2) * (p.window + 2) * static_cast<int>(pixel_bytes);
      s.first_offset = at;
      s.patch_offset = up(at + sizeof(KltFirst) * static_cast<size_t>(s.capacity));
      at = s.patch_offset + static_cast<size_t>((s.capacity + 1) / 2) * static_cast<size_t>(s.patch_bytes);
    }
    s.bytes = up(at);
    return s;
  }

  template <class Pixel>
  LENSD_HD ImageView<Pixel> view(uint8_t* half, int i) const {
    return {reinterpret_cast<Pixel*>(half + level[i].offset), level[i].pitch, level[i].extent};
  }
  template <class Pixel>
  LENSD_HD ImageView<const Pixel> view(const uint8_t* half, int i) const {
    return {reinterpret_cast<const Pixel*>(half + level[i].offset), level[i].pitch, level[i].extent};
  }
  LENSD_HD const KltFirst* first(const uint8_t* half) const {
    return reinterpret_cast<const KltFirst*>(half + first_offset);
  }
  LENSD_HD KltFirst* first(uint8_t* half) const { return reinterpret_cast<KltFirst*>(half + first_offset); }
  template <class Pixel>
  LENSD_HD Pixel* patch(uint8_t* const halves[2], int slot) const {
    return reinterpret_cast<Pixel*>(halves[slot & 1] + patch_offset +
                                    static_cast<size_t>(slot >> 1) * static_cast<size_t>(patch_bytes));
  }
};

using KltState = StatePair<uint8_t>;

/// Returns the float with these bits.
LENSD_HD inline float klt_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Returns the value of a level's pixel with 7 fraction bits.
LENSD_HD constexpr int klt_fixed(uint8_t pixel) {
  return pixel << 7;
}
LENSD_HD constexpr int klt_fixed(uint16_t pixel) {
  return pixel;
}
/// Rounds a 16-bit sample to grey levels with 7 fraction bits.
LENSD_HD constexpr uint16_t klt_deep_pixel(uint32_t sample) {
  return static_cast<uint16_t>((sample * 128 + 128) / 257);
}

/// Returns the rounded Q15 product, as computed by pmulhrsw (hn::MulFixedPoint15).
LENSD_HD constexpr int scaled15(int a, int b) {
  return (a * b + (1 << 14)) >> 15;
}

// Weights of Scharr's kernel (3 10 3) in 1/32768, for samples with 7 fraction bits.
/// Horizontal derivative: weights of the three rows' differences.
inline constexpr int kKltSlopeSide = 3 * 256, kKltSlopeMiddle = 10 * 256;
/// Vertical derivative: weights of the mean of a row's three samples.
inline constexpr int kKltSmoothSide = 3 * 2048, kKltSmoothMiddle = 10 * 2048;
/// Vertical derivative: weight of the difference between the means of the lower and the upper row.
inline constexpr int kKltSlopeSmoothed = 4096;
/// Q15 factor that reduces samples from 7 to 5 fraction bits; see scaled15().
inline constexpr int kKltToFive = 8192;
/// Middle grey, which is subtracted from samples so that sums of squares fit in 32 bits.
inline constexpr int kKltMiddle = 16320;

/// Position of a window: its top left pixel and the fraction in 1/32768.
struct KltSpot {
  int x, y, fx, fy;

  static LENSD_HD KltSpot at(float x, float y) {
    const float left = std::floor(x), top = std::floor(y);
    return {static_cast<int>(left), static_cast<int>(top), fraction(x - left), fraction(y - top)};
  }
  /// Returns `part` in 1/32768, at most 32767, so that it fits in 16 bits. The fraction of a tiny negative
  /// number is rounded to 1.
  static LENSD_HD int fraction(float part) {
    const int value = static_cast<int>(part * 32768.0f);
    return value < 32767 ? value : 32767;
  }
};

/// Valid part of a window: the pixels whose samples lie in the picture.
struct KltRect {
  int x0, y0, x1, y1;

  LENSD_HD int area() const { return x1 > x0 && y1 > y0 ? (x1 - x0) * (y1 - y0) : 0; }
  LENSD_HD bool operator==(const KltRect& o) const {
    return x0 == o.x0 && y0 == o.y0 && x1 == o.x1 && y1 == o.y1;
  }
  LENSD_HD bool too_small(int window) const { return area() * 8 < window * window; }

  /// Returns the window's pixels that have at least `before` neighbours in the picture to the left and above,
  /// and `behind` to the right and below.
  static LENSD_HD KltRect inside(const KltSpot& spot, Extent extent, int window, int before, int behind) {
    const int right = extent.width - behind - spot.x, bottom = extent.height - behind - spot.y;
    return {before > spot.x ? before - spot.x : 0, before > spot.y ? before - spot.y : 0,
            right < window ? right : window, bottom < window ? bottom : window};
  }
  /// Returns the valid part of a window whose samples and derivatives are needed.
  static LENSD_HD KltRect for_derivatives(const KltSpot& spot, Extent extent, int window) {
    return inside(spot, extent, window, 1, 2);
  }
  /// Returns the valid part of a window whose derivatives are not needed.
  static LENSD_HD KltRect for_samples(const KltSpot& spot, Extent extent, int window) {
    return inside(spot, extent, window, 0, 1);
  }
  LENSD_HD KltRect intersect(const KltRect& o) const {
    return {x0 > o.x0 ? x0 : o.x0, y0 > o.y0 ? y0 : o.y0, x1 < o.x1 ? x1 : o.x1, y1 < o.y1 ? y1 : o.y1};
  }
};

/// Sums of samples i and derivatives (x, y) over the valid pixels of a window.
struct KltMoments {
  int64_t xx = 0, xy = 0, yy = 0;
  int64_t x = 0, y = 0, i = 0, ii = 0, xi = 0, yi = 0;  ///< sums used only with gain_bias
};

/// Sums of derivatives times d, and sums of d. d is the difference J − I, or J itself with gain_bias.
struct KltMatch {
  int64_t x = 0, y = 0;
  int64_t d = 0, dd = 0;  ///< sums used only with gain_bias
};

/// Gain and bias between samples I and J. difference() returns gain · J − I − offset, with 5 fraction bits.
struct KltGainBias {
  int gain_q12 = 4096, offset = 0;
  LENSD_HD int difference(int i, int j) const { return ((j * gain_q12 + 2048) >> 12) - i - offset; }
};

/// The 2×2 normal equations of a window.
struct KltSystem {
  KltMoments m;
  double n = 0, xx = 0, xy = 0, yy = 0, inverse = 0;
  bool gain_bias = false;

  /// Sets up the equations. Returns false if the texture is too weak: smallest eigenvalue per pixel below
  /// `min_eigen` (in OpenCV's unit), or a singular matrix.
  LENSD_HD bool make(const KltMoments& moments, int count, double min_eigen, bool match_contrast) {
    m = moments, n = count, gain_bias = match_contrast;
    xx = static_cast<double>(m.xx), xy = static_cast<double>(m.xy), yy = static_cast<double>(m.yy);
    const double smallest = (xx + yy - std::sqrt((xx - yy) * (xx - yy) + 4 * (xy * xy))) / (2 * n);
    if (smallest < min_eigen * 1048576) return false;
    if (gain_bias) {
      xx = static_cast<double>(count * m.xx - m.x * m.x);
      xy = static_cast<double>(count * m.xy - m.x * m.y);
      yy = static_cast<double>(count * m.yy - m.y * m.y);
    }
    const double determinant = xx * yy - xy * xy;
    if (!(determinant >= 131072)) return false;
    inverse = 1 / determinant;
    return true;
  }

  /// Returns the contrast of I divided by that of J, clamped to 1/16 … 16; 0 if one patch is flat.
  LENSD_HD double gain(const KltMatch& match) const {
    const double own = n * static_cast<double>(m.ii) - static_cast<double>(m.i) * static_cast<double>(m.i);
    const double other =
        n * static_cast<double>(match.dd) - static_cast<double>(match.d) * static_cast<double>(match.d);
    if (!(own > 0 && other > 0)) return 0;
    const double ratio = std::sqrt(own / other);
    return ratio < 0.0625 ? 0.0625 : ratio > 16 ? 16 : ratio;
  }

  /// Computes the step by which the window moves. Returns false if `gain_bias` is set and one of the patches
  /// is flat.
  LENSD_HD bool step(const KltMatch& match, double& dx, double& dy) const {
    double bx = static_cast<double>(match.x), by = static_cast<double>(match.y);
    if (gain_bias) {
      const double ratio = gain(match);
      if (ratio == 0) return false;
      const double d = static_cast<double>(match.d), x = static_cast<double>(m.x),
                   y = static_cast<double>(m.y), i = static_cast<double>(m.i);
      bx = ratio * (n * bx - d * x) - (n * static_cast<double>(m.xi) - i * x);
      by = ratio * (n * by - d * y) - (n * static_cast<double>(m.yi) - i * y);
    }
    dx = (xy * by - yy * bx) * inverse;
    dy = (xy * bx - xx * by) * inverse;
    return true;
  }

  LENSD_HD KltGainBias make_gain_bias(const KltMatch& match) const {
    if (!gain_bias) return {};
    const double ratio = gain(match);
    const double offset = (ratio * static_cast<double>(match.d) - static_cast<double>(m.i)) / n;
    return {static_cast<int>(ratio * 4096 + 0.5), static_cast<int>(std::floor(offset + 0.5))};
  }
};

}  // namespace lensd
