// The bilateral filter for 16-bit samples. With d = neighbour − centre:
//
//   out = centre + Σ w·d / Σ w   with   w = 2^(d² · deep_colour + space)
//
// All operations are in single precision. Taps are added in the block's order. The centre's weight is 1.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/bilateral/bilateral_math.hpp"
#include "kernels/common/samples.hpp"

namespace lensd {

/// Coefficients of f, f², f³ and f⁴ in a polynomial for 2^f with |f| ≤ ½; the constant term is 1. The
/// relative error is below 3e-6.
inline constexpr float kExp2[4] = {0.693124115f, 0.240240887f, 0.0559066944f, 0.00958331488f};
/// Adding 1.5 · 2^23 and subtracting it again rounds a float to an integer. The low bits of the sum hold the
/// integer.
inline constexpr float kExp2Round = 12582912.0f;
/// Smaller exponents are clamped to this value, so that all results are normal numbers.
inline constexpr float kExp2Least = -120.0f;

/// Returns 2^x for x ≤ 0.
LENSD_HD inline float deep_bilateral_exp2(float x) {
  if (x < kExp2Least) x = kExp2Least;
  const float rounded = x + kExp2Round, f = x - (rounded - kExp2Round);
  const float power = (((kExp2[3] * f + kExp2[2]) * f + kExp2[1]) * f + kExp2[0]) * f + 1.0f;
#if defined(__CUDA_ARCH__)
  return __int_as_float(__float_as_int(power) + (__float_as_int(rounded) << 23));
#else
  return std::bit_cast<float>(std::bit_cast<uint32_t>(power) + (std::bit_cast<uint32_t>(rounded) << 23));
#endif
}

LENSD_HD inline int deep_bilateral_mean(float centre, float sum, float weights) {
  return clamp_to(65535, static_cast<int>(centre + sum / weights + 0.5f));
}

/// Filters `n` samples of a row on the CPU. taps[i] points to the neighbour of sample 0 at
/// block.deep_taps[i]. May read up to 128 bytes beyond the end of a row.
void deep_bilateral_row(const uint16_t* centre, const uint16_t* const* taps, const BilateralBlock& block,
                        uint16_t* out, size_t n);

}  // namespace lensd
