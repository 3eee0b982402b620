#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

inline constexpr int kBilateralMaxRadius = 10;
inline constexpr int kBilateralMaxTaps = 317;  ///< points of a disc of that radius

struct BilateralParams {
  double sigma_space = 3;
  double sigma_color = 25;
  int radius = 0;
  Border border = Border::reflect101;

  /// The radius that is used; from sigma as in cv::bilateralFilter.
  int effective_radius() const {
    return radius > 0 ? radius
                      : std::clamp(static_cast<int>(std::lround(1.5 * sigma_space)), 1, kBilateralMaxRadius);
  }
};

struct BilateralBlock {
  struct Tap {
    int8_t x, y;
    uint16_t weight;  ///< in 1/4096
  };
  int radius;
  Border border;
  int taps_count;
  Tap taps[kBilateralMaxTaps];
  int32_t colour[256];  ///< weight of a difference, in 1/4096

  static BilateralBlock make(const BilateralParams& p) {
    BilateralBlock b{};
    const auto gauss = [](double squared, double sigma) {
      return static_cast<int>(std::lround(4096 * std::exp(-squared / (2 * sigma * sigma))));
    };
    b.radius = p.effective_radius(), b.border = p.border;
    for (int y = -b.radius; y <= b.radius; ++y)
      for (int x = -b.radius; x <= b.radius; ++x) {
        if (x * x + y * y > b.radius * b.radius) continue;
        const int weight = gauss(x * x + y * y, p.sigma_space);
        if (weight > 0)
          b.taps[b.taps_count++] = {static_cast<int8_t>(x), static_cast<int8_t>(y),
                                    static_cast<uint16_t>(weight)};
      }
    for (int d = 0; d < 256; ++d) b.colour[d] = gauss(d * d, p.sigma_color);
    return b;
  }
};

/// Weight of a neighbour, at most 2^15, so that 317 of them times 255 fit 32 bits. Only the centre reaches
/// 2^15 for a sigma_space of up to 20: other weights fit 16 bits with a sign.
LENSD_HD constexpr uint32_t bilateral_weight(uint32_t space, uint32_t colour) {
  return (space * colour + 256) >> 9;
}

/// Σ weight · value / Σ weight, rounded. The centre's weight alone is 2^15, hence never a division by 0.
LENSD_HD constexpr uint8_t bilateral_mean(uint32_t sum, uint32_t weights) {
  return static_cast<uint8_t>((sum + weights / 2) / weights);
}

}  // namespace lensd
