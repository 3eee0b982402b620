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

  /// The radius that is used.
  int effective_radius() const {
    return radius > 0 ? radius : std::clamp(static_cast<int>(std::ceil(3 * sigma)), 1, kGaussianMaxRadius);
  }
};

/// Taps in 1/65536. The centre's is taps[radius] + 65536 · whole_centre, so that each fits a signed 16-bit
/// word, as multiply-add instructions want it.
struct GaussianBlock {
  int32_t radius;
  Border border;
  int32_t whole_centre;  ///< 0 or 1
  int16_t taps[64];      ///< [0, 2 · radius]; zeros behind

  /// Normalised taps, rounded from the outside in with the error handed on; the centre takes the rest, so
  /// that they sum to one exactly.
  static GaussianBlock make(const GaussianParams& params) {
    GaussianBlock block{};
    const int r = params.effective_radius();
    block.radius = r, block.border = params.border;
    std::array<double, kGaussianMaxRadius + 1> weights;  // by distance from the centre
    double sum = 0;
    for (int k = 0; k <= r; ++k) {
      weights[static_cast<size_t>(k)] = std::exp(-0.5 * (k / params.sigma) * (k / params.sigma));
      sum += (k == 0 ? 1 : 2) * weights[static_cast<size_t>(k)];
    }
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

  /// The tap as a number, centre included.
  int tap(int i) const { return taps[i] + (i == radius ? 65536 * whole_centre : 0); }
};

// Rows first, then columns. Between the passes a sample is kept in 1/128, 15 bits; both sums are of integers,
// so their order does not matter.

/// Sum over a row → sample in 1/128.
LENSD_HD constexpr uint32_t gaussian_between(uint32_t sum) {
  return (sum + (1u << 8)) >> 9;
}
/// Sum over a column of such samples → pixel.
LENSD_HD constexpr uint32_t gaussian_final(uint32_t sum) {
  return (sum + (1u << 22)) >> 23;
}

}  // namespace lensd
