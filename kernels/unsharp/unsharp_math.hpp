#pragma once

#include <cmath>
#include <cstdint>

#include "core/image/view.hpp"
#include "kernels/gaussian/gaussian_math.hpp"

namespace lensd {

struct UnsharpParams {
  double sigma = 1.6;
  double amount = 1;
  int threshold = 0;
  Border border = Border::reflect101;

  GaussianParams blur() const { return {.sigma = sigma, .border = border}; }
};

struct UnsharpBlock {
  GaussianBlock blur;  ///< first: gaussian's kernels take the block's address
  int32_t amount;      ///< in 1/256
  int32_t threshold;

  static UnsharpBlock make(const UnsharpParams& p) {
    return {GaussianBlock::make(p.blur()), static_cast<int32_t>(std::lround(256 * p.amount)), p.threshold};
  }
};

/// in + amount · (in - blurred), rounded, where the difference exceeds the threshold.
LENSD_HD constexpr uint8_t unsharp_value(int in, int blurred, int amount, int threshold) {
  const int d = in - blurred;
  if ((d < 0 ? -d : d) <= threshold) return static_cast<uint8_t>(in);
  const int v = in + ((amount * d + 128) >> 8);
  return static_cast<uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v);
}

}  // namespace lensd
