// Interpolation and derivatives of single pixels, for host and device, and the oracle's window.
#pragma once

#include "kernels/klt/klt_math.hpp"

namespace lensd {

/// Returns the bilinear sample at (x + fx, y + fy), with 7 fraction bits; fx and fy are in 1/32768 pixel.
template <class Pixel>
LENSD_HD int klt_sample(const ImageView<const Pixel>& level, int x, int y, int fx, int fy) {
  const Pixel *upper = level.row(y) + x, *lower = level.row(y + 1) + x;
  const int above = klt_fixed(upper[0]) + scaled15(klt_fixed(upper[1]) - klt_fixed(upper[0]), fx);
  const int below = klt_fixed(lower[0]) + scaled15(klt_fixed(lower[1]) - klt_fixed(lower[0]), fx);
  return above + scaled15(below - above, fy);
}

/// Returns `sample` minus middle grey, reduced to 5 fraction bits.
LENSD_HD constexpr int klt_centred(int sample) {
  return scaled15(sample - kKltMiddle, kKltToFive);
}

/// Returns 32 times the horizontal derivative (Scharr) of 3×3 samples.
LENSD_HD constexpr int klt_slope_x(const int (&s)[3][3]) {
  return scaled15(s[0][2] - s[0][0], kKltSlopeSide) + scaled15(s[1][2] - s[1][0], kKltSlopeMiddle) +
         scaled15(s[2][2] - s[2][0], kKltSlopeSide);
}
LENSD_HD constexpr int klt_smooth(const int (&row)[3]) {
  return scaled15(row[0], kKltSmoothSide) + scaled15(row[1], kKltSmoothMiddle) +
         scaled15(row[2], kKltSmoothSide);
}
/// Returns 32 times the vertical derivative (Scharr) of 3×3 samples.
LENSD_HD constexpr int klt_slope_y(const int (&s)[3][3]) {
  return scaled15(klt_smooth(s[2]) - klt_smooth(s[0]), kKltSlopeSmoothed);
}

/// Scalar implementation of the Window of klt_follow.hpp: sums pixel by pixel.
template <class PixelType>
class KltScalarWindow {
 public:
  using Pixel = PixelType;
  explicit KltScalarWindow(bool gain_bias) : gain_bias_(gain_bias) {}

  void take(const ImageView<const Pixel>& level, const KltSpot& spot, const KltRect& rect) {
    for (int y = rect.y0; y < rect.y1; ++y)
      for (int x = rect.x0; x < rect.x1; ++x) {
        int s[3][3];
        for (int j = 0; j < 3; ++j)
          for (int i = 0; i < 3; ++i)
            s[j][i] = klt_sample(level, spot.x + x + i - 1, spot.y + y + j - 1, spot.fx, spot.fy);
        patch_[y][x] = {s[1][1], klt_slope_x(s), klt_slope_y(s)};
      }
  }

  KltMoments moments(const KltRect& rect) const {
    KltMoments m;
    each(rect, [&](int, int, const Patch& p) {
      const int64_t x = p.slope_x, y = p.slope_y, i = klt_centred(p.sample);
      m.xx += x * x, m.xy += x * y, m.yy += y * y;
      if (gain_bias_) m.x += x, m.y += y, m.i += i, m.ii += i * i, m.xi += x * i, m.yi += y * i;
    });
    return m;
  }

  KltMatch match(const ImageView<const Pixel>& level, const KltSpot& spot, const KltRect& rect) const {
    KltMatch m;
    each(rect, [&](int x, int y, const Patch& p) {
      const int sample = klt_sample(level, spot.x + x, spot.y + y, spot.fx, spot.fy);
      const int64_t d = gain_bias_ ? klt_centred(sample) : scaled15(sample - p.sample, kKltToFive);
      m.x += d * p.slope_x, m.y += d * p.slope_y;
      if (gain_bias_) m.d += d, m.dd += d * d;
    });
    return m;
  }

  int64_t residual(const ImageView<const Pixel>& level, const KltSpot& spot, const KltRect& rect,
                   const KltGainBias& gain_bias) const {
    int64_t sum = 0;
    each(rect, [&](int x, int y, const Patch& p) {
      const int sample = klt_sample(level, spot.x + x, spot.y + y, spot.fx, spot.fy);
      const int left = gain_bias.difference(klt_centred(p.sample), klt_centred(sample));
      sum += left < 0 ? -left : left;
    });
    return sum;
  }

 private:
  struct Patch {
    int sample, slope_x, slope_y;
  };
  template <class Use>
  void each(const KltRect& rect, Use use) const {
    for (int y = rect.y0; y < rect.y1; ++y)
      for (int x = rect.x0; x < rect.x1; ++x) use(x, y, patch_[y][x]);
  }

  bool gain_bias_;
  Patch patch_[kKltMaxWindow][kKltMaxWindow];
};

}  // namespace lensd
