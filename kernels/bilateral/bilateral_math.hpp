#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

inline constexpr int kBilateralMaxRadius = 10;
inline constexpr int kBilateralMaxTaps = 317;  ///< points in a disc of kBilateralMaxRadius

struct BilateralParams {
  double sigma_space = 3;
  double sigma_color = 25;
  int radius = 0;
  Border border = Border::reflect101;

  /// Returns `radius`. If it is 0, derives the radius from sigma_space as in cv::bilateralFilter, but at most
  /// kBilateralMaxRadius.
  int effective_radius() const {
    return radius > 0 ? radius
                      : std::clamp(static_cast<int>(std::lround(1.5 * sigma_space)), 1, kBilateralMaxRadius);
  }
};

struct BilateralBlock {
  struct Tap {
    int8_t x, y;
    uint16_t weight;  ///< spatial weight in 1/4096
  };
  int radius;
  Border border;
  int taps_count;
  Tap taps[kBilateralMaxTaps];
  int32_t colour[256];  ///< weights by difference of value, in 1/4096

  /// A point of the disc, for 16-bit images.
  struct DeepTap {
    int16_t x, y;
    float space;  ///< log2 of the spatial weight
  };
  int deep_count;
  float deep_colour;                         ///< log2 of the weight by value, divided by difference²
  DeepTap deep_taps[kBilateralMaxTaps - 1];  ///< the disc without its centre, row by row

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
    b.make_deep(p);
    return b;
  }

 private:
  void make_deep(const BilateralParams& p) {
    const double binary = -0.5 / std::log(2.0), sigma = 257 * p.sigma_color;
    deep_colour = static_cast<float>(binary / (sigma * sigma));
    for (int y = -radius; y <= radius; ++y)
      for (int x = -radius; x <= radius; ++x) {
        const int squared = x * x + y * y;
        if (squared == 0 || squared > radius * radius) continue;
        deep_taps[deep_count++] = {static_cast<int16_t>(x), static_cast<int16_t>(y),
                                   static_cast<float>(binary * squared / (p.sigma_space * p.sigma_space))};
      }
  }
};

/// Returns the weight of a neighbour. It is at most 2^15, so 317 weights times 255 fit in 32 bits. For
/// sigma_space ≤ 20 only the centre reaches 2^15; all other weights fit in signed 16 bits.
LENSD_HD constexpr uint32_t bilateral_weight(uint32_t space, uint32_t colour) {
  return (space * colour + 256) >> 9;
}

/// Returns Σ weight · value / Σ weight, rounded. The sum of weights is never 0: the centre's weight is 2^15.
LENSD_HD constexpr uint8_t bilateral_mean(uint32_t sum, uint32_t weights) {
  return static_cast<uint8_t>((sum + weights / 2) / weights);
}

}  // namespace lensd
