// Derivatives with the 3×3 kernels of Sobel for four pixels of a row at a time, two to a register: sums of
// bytes fit 16 bits, and what could be negative is kept above zero by a constant.
//
//   words of three rows ──▶ ColumnPairs ──▶ smoothed(), derived() ──▶ GradientPairs
#pragma once

#include <cstdint>

namespace lensd {

/// Values of the columns of a row's words, in the halves of registers: 0 and 2 of each four, 1 and 3, and
/// those on either side of all.
template <int kWords>
struct ColumnPairs {
  uint32_t even[kWords], odd[kWords], rim;

  /// Of the columns left of the even ones, and right of the odd ones.
  __device__ __forceinline__ uint32_t left_of_even(int word) const {
    return word == 0 ? __byte_perm(rim, odd[0], 0x5410) : __byte_perm(odd[word - 1], odd[word], 0x5432);
  }
  __device__ __forceinline__ uint32_t right_of_odd(int word) const {
    return word + 1 == kWords ? __byte_perm(even[word], rim, 0x7632)
                              : __byte_perm(even[word], even[word + 1], 0x5432);
  }
};

/// Derivatives of four pixels, by what keeps the halves positive too large.
struct GradientPairs {
  static constexpr uint32_t pair = 0x00010001u;
  static constexpr int x_bias = 1024, y_bias = 4 * x_bias;
  uint32_t x[2], y[2];  ///< of the columns 0 and 2, and of 1 and 3

  GradientPairs() = default;
  /// Of the four columns of `word`, from sums down the columns.
  template <int kWords>
  __device__ __forceinline__ GradientPairs(const ColumnPairs<kWords>& smooth,
                                           const ColumnPairs<kWords>& slope, int word) {
    x[0] = smooth.odd[word] + x_bias * pair - smooth.left_of_even(word);
    x[1] = smooth.right_of_odd(word) + x_bias * pair - smooth.even[word];
    y[0] = slope.left_of_even(word) + 2 * slope.even[word] + slope.odd[word];
    y[1] = slope.even[word] + 2 * slope.odd[word] + slope.right_of_odd(word);
  }
};

/// above + 2 · at + below.
template <int kWords>
__device__ __forceinline__ ColumnPairs<kWords> smoothed(const ColumnPairs<kWords>& above,
                                                        const ColumnPairs<kWords>& at,
                                                        const ColumnPairs<kWords>& below) {
  ColumnPairs<kWords> sum;
#pragma unroll
  for (int i = 0; i < kWords; ++i)
    sum.even[i] = above.even[i] + 2 * at.even[i] + below.even[i],
    sum.odd[i] = above.odd[i] + 2 * at.odd[i] + below.odd[i];
  sum.rim = above.rim + 2 * at.rim + below.rim;
  return sum;
}

/// below − above + GradientPairs::x_bias.
template <int kWords>
__device__ __forceinline__ ColumnPairs<kWords> derived(const ColumnPairs<kWords>& above,
                                                       const ColumnPairs<kWords>& below) {
  constexpr uint32_t kBias = GradientPairs::x_bias * GradientPairs::pair;
  ColumnPairs<kWords> sum;
#pragma unroll
  for (int i = 0; i < kWords; ++i)
    sum.even[i] = below.even[i] + kBias - above.even[i], sum.odd[i] = below.odd[i] + kBias - above.odd[i];
  sum.rim = below.rim + kBias - above.rim;
  return sum;
}

}  // namespace lensd
