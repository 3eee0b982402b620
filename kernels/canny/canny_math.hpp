#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/image/view.hpp"
#include "kernels/gaussian/gaussian_math.hpp"

namespace lensd {

enum class CannyOutput : uint8_t { edges, overlay };

struct CannyParams {
  double low = 50, high = 150;
  int aperture = 3;
  bool l2 = false;
  double sigma = 0;
  CannyOutput output = CannyOutput::edges;

  /// Of the blur beforehand, when sigma > 0.
  GaussianParams blur() const { return {.sigma = std::max(sigma, 0.1)}; }
};

inline constexpr int kCannyMaxReach = 3;  ///< half of the largest aperture

struct CannyBlock {
  int low, high;  ///< a magnitude counts when above
  int aperture;
  bool l2;
  CannyOutput output;
  GaussianBlock blur;

  /// Thresholds as cv::Canny derives them: smaller first, divided by 16 with aperture 7, squared with l2.
  static CannyBlock make(const CannyParams& p) {
    const double scale = p.aperture == 7 ? 1.0 / 16 : 1.0;
    double low = std::min(p.low, p.high) * scale, high = std::max(p.low, p.high) * scale;
    if (p.l2) {
      low = std::min(32767.0, low), high = std::min(32767.0, high);
      low *= low, high *= high;
    }
    return {static_cast<int>(std::floor(low)), static_cast<int>(std::floor(high)), p.aperture, p.l2, p.output,
            GaussianBlock::make(p.blur())};
  }
};

/// Sobel's kernels of side `A`: smoothing weight and derivative weight at offset k from the middle.
template <int A>
LENSD_HD constexpr int canny_smooth(int k) {
  const int a = k < 0 ? -k : k;
  if (A == 3) return 2 - a;
  if (A == 5) return a == 0 ? 6 : a == 1 ? 4 : 1;
  return a == 0 ? 20 : a == 1 ? 15 : a == 2 ? 6 : 1;
}
template <int A>
LENSD_HD constexpr int canny_derive(int k) {
  const int a = k < 0 ? -k : k;
  const int w = A == 3   ? a
                : A == 5 ? (a == 1   ? 2
                            : a == 2 ? 1
                                     : 0)
                : a == 1 ? 5
                : a == 2 ? 4
                : a == 3 ? 1
                         : 0;
  return k < 0 ? -w : w;
}

/// Aperture 7 scales by 1/16, ties to even, so that derivatives fit 16 bits.
template <int A>
LENSD_HD inline int canny_scale(int sum) {
  return A == 7 ? (sum + 7 + (sum >> 4 & 1)) >> 4 : sum;
}

LENSD_HD inline int canny_magnitude(int dx, int dy, bool l2) {
  return l2 ? dx * dx + dy * dy : (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
}

/// 0 no edge, 1 weak, 2 strong: non-maximum suppression over three directions, tan 22.5° in 15 bits. The
/// pointers are to the pixel's magnitude and to those above and below; comparisons are strict on one side
/// only, as cv::Canny's.
LENSD_HD inline int canny_class(const int32_t* above, const int32_t* at, const int32_t* below, int dx, int dy,
                                int low, int high) {
  const int m = *at;
  if (m <= low) return 0;
  const int x = dx < 0 ? -dx : dx, y = (dy < 0 ? -dy : dy) << 15;
  const int tan22 = x * 13573, tan67 = tan22 + (x << 16);
  bool peak;
  if (y < tan22) {
    peak = m > at[-1] && m >= at[1];
  } else if (y > tan67) {
    peak = m > above[0] && m >= below[0];
  } else {
    const int s = (dx ^ dy) < 0 ? -1 : 1;
    peak = m > above[-s] && m > below[s];
  }
  return !peak ? 0 : m > high ? 2 : 1;
}

}  // namespace lensd
