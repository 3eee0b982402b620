#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

inline constexpr int kGaussianMaxRadius = 31;

struct GaussianParams {
  double sigma = 1.6;
  int radius = 0;
  Border border = Border::reflect101;

  /// Returns `radius`, or, if it is 0, three sigma rounded up, at most kGaussianMaxRadius.
  int effective_radius() const {
    return radius > 0 ? radius : std::clamp(static_cast<int>(std::ceil(3 * sigma)), 1, kGaussianMaxRadius);
  }
};

/// Taps in 1/65536. The centre tap is taps[radius] + 65536 · whole_centre, so that all taps fit in the signed
/// 16-bit words of multiply-add instructions.
struct GaussianBlock {
  int32_t radius;
  Border border;
  int32_t whole_centre;  ///< 0 or 1
  int16_t taps[64];      ///< taps [0, 2 · radius], then zeros
  float weights[32];     ///< 16 bits: weights by distance from the centre; their sum over the window is 1

  /// Returns normalised taps, rounded from the outside in with error diffusion. The centre takes the
  /// remainder, so that the sum is exactly one.
  static GaussianBlock make(const GaussianParams& params) {
    GaussianBlock block{};
    const int r = params.effective_radius();
    block.radius = r, block.border = params.border;
    std::array<double, kGaussianMaxRadius + 1> weights;  // weights by distance from the centre
    double sum = 0;
    for (int k = 0; k <= r; ++k) {
      weights[static_cast<size_t>(k)] = std::exp(-0.5 * (k / params.sigma) * (k / params.sigma));
      sum += (k == 0 ? 1 : 2) * weights[static_cast<size_t>(k)];
    }
    // Denormal weights would make the sums slow. Weights below 1e-20 do not affect the results.
    for (int k = 0; k <= r; ++k)
      if (const double weight = weights[static_cast<size_t>(k)] / sum; weight > 1e-20)
        block.weights[k] = static_cast<float>(weight);
    double error = 0;
    int centre = 65536;
    for (int k = r; k >= 1; --k) {
      const double exact = weights[static_cast<size_t>(k)] / sum * 65536 + error;
      const int tap = static_cast<int>(std::floor(exact + 0.5));
      error = exact - tap;
      block.taps[r - k] = block.taps[r + k] = static_cast<int16_t>(tap);
      centre -= 2 * tap;
    }
    block.whole_centre = centre >= 32768 ? 1 : 0;
    block.taps[r] = static_cast<int16_t>(centre - 65536 * block.whole_centre);
    return block;
  }

  /// Returns tap `i`, including the centre's whole part.
  int tap(int i) const { return taps[i] + (i == radius ? 65536 * whole_centre : 0); }
};

// The horizontal pass comes first. Samples between the passes are in 1/128 and have 15 bits. Sums are
// integers, so their order does not matter.

/// Converts a horizontal sum to a sample in 1/128.
LENSD_HD constexpr uint32_t gaussian_between(uint32_t sum) {
  return (sum + (1u << 8)) >> 9;
}
/// Converts a vertical sum of samples in 1/128 to a pixel.
LENSD_HD constexpr uint32_t gaussian_final(uint32_t sum) {
  return (sum + (1u << 22)) >> 23;
}

/// Returns Σ weight · sample for 2·radius + 1 samples; at(k) is the sample at distance k from the centre.
/// Single precision; the order of the operations is that of the code.
template <class At>
LENSD_HD inline float deep_gaussian_sum(const float* weights, int radius, const At& at) {
  float sum = weights[0] * at(0);
  for (int k = 1; k <= radius; ++k) sum = sum + weights[k] * (at(-k) + at(k));
  return sum;
}

/// Returns the blurred sample, rounded to nearest.
LENSD_HD inline int deep_gaussian_value(float sum) {
  const int v = static_cast<int>(sum + 0.5f);
  return v < 65535 ? v : 65535;
}

}  // namespace lensd
