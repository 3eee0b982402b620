#pragma once

#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

struct BoxParams {
  int radius = 2;
  Border border = Border::reflect101;
};

inline constexpr int kBoxMaxRadius = 127;   ///< up to this radius the sum of a column fits in 16 bits
inline constexpr int kBoxNarrowRadius = 7;  ///< up to this radius the sum of a window fits in 16 bits

struct BoxBlock {
  int radius, half;     ///< half is n / 2 for n = (2·radius + 1)²
  uint32_t reciprocal;  ///< ceil(2^shift / n)
  int shift;            ///< 31 to 46
  Border border;
  uint64_t deep_reciprocal;  ///< ceil(2^63 / n)

  static BoxBlock make(const BoxParams& p) {
    const uint32_t side = static_cast<uint32_t>(2 * p.radius + 1), n = side * side;
    int log2 = 0;
    while (n >> (log2 + 1)) ++log2;
    const int shift = 31 + log2;
    const auto reciprocal = static_cast<uint32_t>(((uint64_t{1} << shift) + n - 1) / n);
    const uint64_t deep_reciprocal = ((uint64_t{1} << 63) + n - 1) / n;
    return {p.radius, static_cast<int>(n / 2), reciprocal, shift, p.border, deep_reciprocal};
  }

  /// For radii 1 to 7 the mean is (sum + n/2) · narrow_reciprocal() >> (16 + narrow_shift()), in 16 bits. The
  /// reciprocal is ceil(2^(16 + narrow_shift()) / n); a test covers all sums.
  uint16_t narrow_reciprocal() const { return static_cast<uint16_t>((reciprocal + 0x7fff) >> 15); }
  int narrow_shift() const { return shift - 31; }
};

/// Returns (sum + n/2) / n. Exact: the reciprocal exceeds 1/n by a relative error below n / 2^shift ≤ 2^-30,
/// and sum + n/2 < 2^25 (Granlund & Montgomery 1994, theorem 4.2).
LENSD_HD inline uint8_t box_mean(uint32_t sum, const BoxBlock& b) {
  return static_cast<uint8_t>((static_cast<uint64_t>(sum + static_cast<uint32_t>(b.half)) * b.reciprocal) >>
                              b.shift);
}

/// Returns (sum + n/2) / n for 16-bit samples, whose sums are below 2^32. Exact: with the additional 0.5, the
/// quotient is at least 0.5 / n away from an integer, which is more than its rounding error.
LENSD_HD inline uint16_t deep_box_mean(uint32_t sum, const BoxBlock& b) {
  const double n = (2.0 * b.radius + 1) * (2.0 * b.radius + 1);
  const double biased = static_cast<double>(sum + static_cast<uint32_t>(b.half)) + 0.5;
  return static_cast<uint16_t>(static_cast<int>(biased * (1 / n)));
}

/// Computes deep_box_mean() in integers, since GPUs have few double-precision units. Exact: the reciprocal
/// exceeds 1/n by less than 2^-63, so the product exceeds the quotient by less than 2^-31 < 1/n.
LENSD_HD inline uint16_t deep_box_quotient(uint32_t sum, const BoxBlock& b) {
  const uint64_t biased = sum + static_cast<uint32_t>(b.half);
  const uint64_t low = biased * (b.deep_reciprocal & 0xffffffffu), high = biased * (b.deep_reciprocal >> 32);
  return static_cast<uint16_t>((high + (low >> 32)) >> 31);
}

}  // namespace lensd
