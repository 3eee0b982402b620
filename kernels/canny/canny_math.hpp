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

  /// Returns the parameters of the blur before the gradient; used only if sigma > 0.
  GaussianParams blur() const { return {.sigma = std::max(sigma, 0.1)}; }
};

inline constexpr int kCannyMaxReach = 3;  ///< half of the largest aperture, rounded down

struct CannyBlock {
  int low, high;  ///< thresholds; a magnitude must be greater
  int aperture;
  bool l2;
  CannyOutput output;
  GaussianBlock blur;
  int64_t deep_low, deep_high;  ///< thresholds for 16 bits: multiplied by 257; with l2, by 257²

  /// Returns the block. Thresholds are as in cv::Canny: sorted, divided by 16 for aperture 7, squared for l2.
  static CannyBlock make(const CannyParams& p) {
    const double scale = p.aperture == 7 ? 1.0 / 16 : 1.0;
    double low = std::min(p.low, p.high) * scale, high = std::max(p.low, p.high) * scale;
    if (p.l2) {
      low = std::min(32767.0, low), high = std::min(32767.0, high);
      low *= low, high *= high;
    }
    const double unit = p.l2 ? 257.0 * 257 : 257;
    return {static_cast<int>(std::floor(low)),
            static_cast<int>(std::floor(high)),
            p.aperture,
            p.l2,
            p.output,
            GaussianBlock::make(p.blur()),
            static_cast<int64_t>(std::floor(low * unit)),
            static_cast<int64_t>(std::floor(high * unit))};
  }
};

/// Weights of Sobel kernels of side `A`: smoothing and derivative at offset k from the middle.
template <int A>
LENSD_HD constexpr int canny_smooth(int k) {
  constexpr int kWeights[3][4] = {{2, 1}, {6, 4, 1}, {20, 15, 6, 1}};
  return kWeights[A / 2 - 1][k < 0 ? -k : k];
}
template <int A>
LENSD_HD constexpr int canny_derive(int k) {
  constexpr int kWeights[3][4] = {{0, 1}, {0, 2, 1}, {0, 5, 4, 1}};
  return k < 0 ? -kWeights[A / 2 - 1][-k] : kWeights[A / 2 - 1][k];
}

/// Scales a derivative. For aperture 7, divides by 16 and rounds to nearest, ties to even, so that
/// derivatives of 8-bit samples fit in 16 bits.
template <int A>
LENSD_HD inline int canny_scale(int sum) {
  return A == 7 ? (sum + 7 + (sum >> 4 & 1)) >> 4 : sum;
}

LENSD_HD inline int canny_magnitude(int dx, int dy, bool l2) {
  return l2 ? dx * dx + dy * dy : (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
}

/// Applies non-maximum suppression. Returns 0 (no edge), 1 (weak) or 2 (strong). `at` points to the pixel's
/// magnitude, `above` and `below` to those of its vertical neighbours. As in cv::Canny, tan 22.5° has 15
/// fractional bits. The pixel must exceed its first neighbour along the gradient but may equal the second
/// one. On diagonals it must exceed both.
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

/// Computes canny_magnitude() for derivatives of 16-bit samples, which have up to 23 bits.
LENSD_HD inline int64_t deep_canny_magnitude(int dx, int dy, bool l2) {
  const int64_t x = dx < 0 ? -int64_t{dx} : dx, y = dy < 0 ? -int64_t{dy} : dy;
  return l2 ? x * x + y * y : x + y;
}

/// Computes canny_class() for derivatives of 16-bit samples.
LENSD_HD inline int deep_canny_class(const int64_t* above, const int64_t* at, const int64_t* below, int dx,
                                     int dy, int64_t low, int64_t high) {
  const int64_t m = *at;
  if (m <= low) return 0;
  const int64_t x = dx < 0 ? -int64_t{dx} : dx, y = (dy < 0 ? -int64_t{dy} : dy) * 32768;
  const int64_t tan22 = x * 13573, tan67 = tan22 + x * 65536;
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
