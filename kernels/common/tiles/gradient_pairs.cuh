// 3×3 Sobel derivatives of four adjacent pixels of a row, two per register. Sums of bytes fit in 16 bits; a
// bias keeps differences positive.
//
//   words of three rows ──▶ ColumnPairs ──▶ smoothed(), derived() ──▶ GradientPairs
#pragma once

#include <cstdint>

namespace lensd {

/// Values of one row, two 16-bit values per register. `even`: columns 0 and 2 of each word. `odd`: columns 1
/// and 3. `sides`: the column before the first word and the column after the last one.
template <int kWords>
struct ColumnPairs {
  uint32_t even[kWords], odd[kWords], sides;

  /// Returns the left neighbours of the even columns of `word`.
  __device__ __forceinline__ uint32_t left_of_even(int word) const {
    return word == 0 ? __byte_perm(sides, odd[0], 0x5410) : __byte_perm(odd[word - 1], odd[word], 0x5432);
  }
  __device__ __forceinline__ uint32_t right_of_odd(int word) const {
    return word + 1 == kWords ? __byte_perm(even[word], sides, 0x7632)
                              : __byte_perm(even[word], even[word + 1], 0x5432);
  }
};

/// Derivatives of four pixels, plus x_bias and y_bias, which keep the halves positive.
struct GradientPairs {
  static constexpr uint32_t pair = 0x00010001u;
  static constexpr int x_bias = 1024, y_bias = 4 * x_bias;
  uint32_t x[2], y[2];  ///< [0]: derivatives of columns 0 and 2; [1]: of columns 1 and 3

  GradientPairs() = default;
  /// Computes the derivatives of the four columns of `word` from the results of smoothed() and derived().
  template <int kWords>
  __device__ __forceinline__ GradientPairs(const ColumnPairs<kWords>& smooth,
                                           const ColumnPairs<kWords>& slope, int word) {
    x[0] = smooth.odd[word] + x_bias * pair - smooth.left_of_even(word);
    x[1] = smooth.right_of_odd(word) + x_bias * pair - smooth.even[word];
    y[0] = slope.left_of_even(word) + 2 * slope.even[word] + slope.odd[word];
    y[1] = slope.even[word] + 2 * slope.odd[word] + slope.right_of_odd(word);
  }
};

/// Returns above + 2 · at + below.
template <int kWords>
__device__ __forceinline__ ColumnPairs<kWords> smoothed(const ColumnPairs<kWords>& above,
                                                        const ColumnPairs<kWords>& at,
                                                        const ColumnPairs<kWords>& below) {
  ColumnPairs<kWords> sum;
#pragma unroll
  for (int i = 0; i < kWords; ++i)
    sum.even[i] = above.even[i] + 2 * at.even[i] + below.even[i],
    sum.odd[i] = above.odd[i] + 2 * at.odd[i] + below.odd[i];
  sum.sides = above.sides + 2 * at.sides + below.sides;
  return sum;
}

/// Returns below − above + GradientPairs::x_bias.
template <int kWords>
__device__ __forceinline__ ColumnPairs<kWords> derived(const ColumnPairs<kWords>& above,
                                                       const ColumnPairs<kWords>& below) {
  constexpr uint32_t kBias = GradientPairs::x_bias * GradientPairs::pair;
  ColumnPairs<kWords> sum;
#pragma unroll
  for (int i = 0; i < kWords; ++i)
    sum.even[i] = below.even[i] + kBias - above.even[i], sum.odd[i] = below.odd[i] + kBias - above.odd[i];
  sum.sides = below.sides + kBias - above.sides;
  return sum;
}

}  // namespace lensd
