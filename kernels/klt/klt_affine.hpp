// affine_check: the first patch of a track is fitted to the current picture by an affine map (Gauss-Newton,
// six parameters) with brightness and contrast matched. The track has drifted if the normalised correlation
// stays low after the fit. Source: J. Shi, C. Tomasi, Good features to track, 1994.
//
// `Lanes` selects the columns of the window that a thread sums, and adds the threads' sums. On the CPU, one
// thread sums all columns; on CUDA, each lane of a warp sums one.
#pragma once

#include "kernels/klt/klt_window.hpp"

namespace lensd {

/// Thresholds of the correlation. At kKltGoodCorrelation or more, the fit ends early. Below
/// kKltDriftCorrelation, the track has drifted.
inline constexpr double kKltGoodCorrelation = 0.95, kKltDriftCorrelation = 0.7;
inline constexpr int kKltWarpSteps = 6;

struct KltAllLanes {
  int first = 0, stride = 1;
  LENSD_HD int64_t sum(int64_t v) const { return v; }
};

/// Map from window offsets (u, v) to the picture: (x, y) + (a u + b v, c u + d v), in 1/32768 pixel.
struct KltWarp {
  int x, y, a, b, c, d;

  static LENSD_HD KltWarp make(float px, float py, const double (&w)[4]) {
    const KltSpot spot = KltSpot::at(px, py);
    const auto fixed = [](double v) { return static_cast<int>(std::floor(v * 32768 + 0.5)); };
    return {(spot.x << 15) + spot.fx,
            (spot.y << 15) + spot.fy,
            fixed(w[0]),
            fixed(w[1]),
            fixed(w[2]),
            fixed(w[3])};
  }
};

struct KltCorrelation {
  int64_t n = 0, i = 0, j = 0, ii = 0, jj = 0, ij = 0;

  LENSD_HD double own() const { return static_cast<double>(n * ii - i * i); }
  LENSD_HD double other() const { return static_cast<double>(n * jj - j * j); }
  /// Returns the correlation, −1 to 1: 1 if the first patch is flat, otherwise 0 if the current one is flat.
  LENSD_HD double correlation() const {
    if (!(own() > 0)) return 1;
    if (!(other() > 0)) return 0;
    return static_cast<double>(n * ij - i * j) / std::sqrt(own() * other());
  }
  LENSD_HD KltGainBias gain_bias() const {
    const double ratio = std::sqrt(own() / other());
    const double gain = ratio < 0.0625 ? 0.0625 : ratio > 16 ? 16 : ratio;
    const double offset = (gain * static_cast<double>(j) - static_cast<double>(i)) / static_cast<double>(n);
    return {static_cast<int>(gain * 4096 + 0.5), static_cast<int>(std::floor(offset + 0.5))};
  }
};

/// Solves H x = b by LDLᵀ for a symmetric 6×6 matrix H. `upper`: upper triangle of H, row by row. Returns
/// false if a pivot is not above 1: H is singular or nearly so.
LENSD_HD inline bool klt_solve6(const double (&upper)[21], const double (&b)[6], double (&x)[6]) {
  double l[6][6], d[6];
  for (int r = 0, k = 0; r < 6; ++r)
    for (int c = r; c < 6; ++c) l[c][r] = upper[k++];
  for (int c = 0; c < 6; ++c) {
    d[c] = l[c][c];
    for (int k = 0; k < c; ++k) d[c] -= l[c][k] * l[c][k] * d[k];
    if (!(d[c] > 1)) return false;
    for (int r = c + 1; r < 6; ++r) {
      for (int k = 0; k < c; ++k) l[r][c] -= l[r][k] * l[c][k] * d[k];
      l[r][c] /= d[c];
    }
  }
  for (int r = 0; r < 6; ++r) {
    x[r] = b[r];
    for (int k = 0; k < r; ++k) x[r] -= l[r][k] * x[k];
  }
  for (int r = 0; r < 6; ++r) x[r] /= d[r];
  for (int r = 5; r >= 0; --r)
    for (int k = r + 1; k < 6; ++k) x[r] -= l[k][r] * x[k];
  return true;
}

/// First patch of a track and one step of its fit to a picture. `pixels`: (window + 2)² pixels around the
/// corner. Window pixels outside the first or the current picture are ignored.
template <class Pixel, class Lanes>
class KltFirstPatch {
 public:
  LENSD_HD KltFirstPatch(const Pixel* pixels, const KltFirst& first, Extent extent, int window, Lanes lanes)
      : pixels_(pixels), window_(window), lanes_(lanes) {
    own_ = KltRect::inside({first.x - window / 2, first.y - window / 2, 0, 0}, extent, window, 1, 1);
  }

  LENSD_HD KltCorrelation compare(const ImageView<const Pixel>& picture, const KltWarp& warp) const {
    KltCorrelation s;
    each(picture, warp, [&](int x, int y, int u, int v) {
      const int64_t i = value(u, v), j = klt_centred(sample(picture, x, y));
      ++s.n, s.i += i, s.j += j, s.ii += i * i, s.jj += j * j, s.ij += i * j;
    });
    return {lanes_.sum(s.n),  lanes_.sum(s.i),  lanes_.sum(s.j),
            lanes_.sum(s.ii), lanes_.sum(s.jj), lanes_.sum(s.ij)};
  }

  /// Computes one step of the fit. `change` receives the changes of the warp's matrix (a, b, c, d) and of the
  /// position (x, y). Returns false if the system is singular or nearly so; see klt_solve6().
  LENSD_HD bool step(const ImageView<const Pixel>& picture, const KltWarp& warp, const KltGainBias& gain_bias,
                     double (&change)[6]) const {
    int64_t upper[21] = {}, right[6] = {};
    each(picture, warp, [&](int x, int y, int u, int v) {
      int s[3][3];
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) s[j][i] = pixel(u + i - 1, v + j - 1);
      const int gx = klt_slope_x(s), gy = klt_slope_y(s);
      const int64_t phi[6] = {gx * u, gx * v, gy * u, gy * v, gx, gy};
      const int difference = gain_bias.difference(value(u, v), klt_centred(sample(picture, x, y)));
      for (int r = 0, k = 0; r < 6; ++r) {
        right[r] -= phi[r] * difference;
        for (int c = r; c < 6; ++c) upper[k++] += phi[r] * phi[c];
      }
    });
    double matrix[21], b[6];
    for (int k = 0; k < 21; ++k) matrix[k] = static_cast<double>(lanes_.sum(upper[k]));
    for (int r = 0; r < 6; ++r) b[r] = static_cast<double>(lanes_.sum(right[r]));
    return klt_solve6(matrix, b, change);
  }

 private:
  /// Returns the pixel of the first patch at offset (u, v) from its centre, with 7 fraction bits; |u|, |v| ≤
  /// window / 2 + 1.
  LENSD_HD int pixel(int u, int v) const {
    const int reach = window_ / 2 + 1;
    return klt_fixed(pixels_[(v + reach) * (window_ + 2) + u + reach]);
  }
  LENSD_HD int value(int u, int v) const { return klt_centred(pixel(u, v)); }
  static LENSD_HD int sample(const ImageView<const Pixel>& picture, int x, int y) {
    return klt_sample(picture, x >> 15, y >> 15, x & 32767, y & 32767);
  }
  template <class Use>
  LENSD_HD void each(const ImageView<const Pixel>& picture, const KltWarp& warp, Use use) const {
    const int half = window_ / 2;
    for (int j = own_.y0; j < own_.y1; ++j)
      for (int i = lanes_.first; i < own_.x1; i += lanes_.stride) {
        if (i < own_.x0) continue;
        const int u = i - half, v = j - half;
        const int x = warp.x + warp.a * u + warp.b * v, y = warp.y + warp.c * u + warp.d * v;
        if (x < 0 || y < 0 || x >> 15 >= picture.extent.width - 1 || y >> 15 >= picture.extent.height - 1)
          continue;
        use(x, y, u, v);
      }
  }

  const Pixel* pixels_;
  int window_;
  Lanes lanes_;
  KltRect own_;
};

/// Returns true if the patch around (x, y) still matches the first patch, or if too little of it is inside
/// the picture to decide. In the latter case `warp` does not change; otherwise it is refined.
template <class Pixel, class Lanes>
LENSD_HD bool klt_matches_first(const KltFirstPatch<Pixel, Lanes>& patch,
                                const ImageView<const Pixel>& picture, float x, float y, int window,
                                float (&warp)[4]) {
  double now[4], best_warp[4], px = x, py = y, best = -2;
  for (int k = 0; k < 4; ++k) now[k] = best_warp[k] = static_cast<double>(warp[k]);
  for (int step = 0;; ++step) {
    const KltWarp fixed = KltWarp::make(static_cast<float>(px), static_cast<float>(py), now);
    const KltCorrelation fit = patch.compare(picture, fixed);
    if (fit.n * 8 < window * window) return true;  // too few pixels inside the picture to decide
    const double correlation = fit.correlation();
    const bool better = correlation > best + 0.002;
    if (correlation > best) {
      best = correlation;
      for (int k = 0; k < 4; ++k) best_warp[k] = now[k];
    }
    double change[6];
    if (best >= kKltGoodCorrelation || !better || step == kKltWarpSteps || !(fit.other() > 0) ||
        !patch.step(picture, fixed, fit.gain_bias(), change))
      break;
    bool diverged = false;
    for (int k = 0; k < 4; ++k) {
      now[k] += change[k];
      const double turn = now[k] - (k == 0 || k == 3 ? 1 : 0);
      diverged = diverged || !(turn > -3 && turn < 3);
    }
    px += change[4], py += change[5];
    diverged = diverged || !(px - x > -window && px - x < window && py - y > -window && py - y < window);
    if (diverged) break;
  }
  for (int k = 0; k < 4; ++k) warp[k] = static_cast<float>(best_warp[k]);
  return best >= kKltDriftCorrelation;
}

}  // namespace lensd
