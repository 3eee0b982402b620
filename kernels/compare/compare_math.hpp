#pragma once

#include <type_traits>

#include "kernels/scopes/scope_math.hpp"

namespace lensd {

struct CompareBlock {
  LumaBlock luma;
  static constexpr CompareBlock make(const ScopeParams& p) { return {LumaBlock::make(p.matrix)}; }
};

/// Sums over a block of 4×4 luma values of both images. S: type of the samples. A window is 2×2 blocks; for
/// 16-bit images, its sum of squares is below 2^39.
template <class S>
struct BlockSums {
  using Square = std::conditional_t<sizeof(S) == 1, uint32_t, uint64_t>;
  uint32_t a, b;             ///< Σa, Σb
  Square squares, products;  ///< Σ(a² + b²), Σab

  LENSD_HD constexpr void add(uint32_t x, uint32_t y) {
    const Square p = x, q = y;
    a += x, b += y, squares += p * p + q * q, products += p * q;
  }
  LENSD_HD constexpr void add(const BlockSums& other) {
    a += other.a, b += other.b, squares += other.squares, products += other.products;
  }
};
inline constexpr int kCompareBlock = 4;

/// Returns the number of whole blocks along a side.
LENSD_HD constexpr int compare_blocks(int side) {
  return side / kCompareBlock;
}
/// Returns the number of windows along a side; windows start at every block except the last.
LENSD_HD constexpr int compare_windows(int side) {
  return compare_blocks(side) > 1 ? compare_blocks(side) - 1 : 0;
}

/// Returns the structural similarity of an 8×8 window in units of 2^-24, with sample variances (n − 1) and
/// the usual constants (0.01 · white)² and (0.03 · white)². All terms are scaled by the number of pixels, so
/// that only one division is needed. They are below 2^46 and therefore exact as doubles.
template <class S>
LENSD_HD inline int64_t window_ssim(const BlockSums<S>& w) {
  constexpr int64_t c1 = sizeof(S) == 1 ? 26634 : 1759164918;    // 0.01² · white² · 64², rounded
  constexpr int64_t c2 = sizeof(S) == 1 ? 235963 : 15585101693;  // 0.03² · white² · 64 · 63, rounded
  const int64_t a = w.a, b = w.b;
  const int64_t variances = 64 * static_cast<int64_t>(w.squares) - a * a - b * b;
  const int64_t covariance = 64 * static_cast<int64_t>(w.products) - a * b;
  const double similar = static_cast<double>(2 * a * b + c1) * static_cast<double>(2 * covariance + c2);
  const double possible = static_cast<double>(a * a + b * b + c1) * static_cast<double>(variances + c2);
  const double scaled = similar / possible * 16777216.0;
  return static_cast<int64_t>(scaled + (scaled < 0 ? -0.5 : 0.5));
}

}  // namespace lensd
