#include "kernels/median/median_merge.hpp"

#include <algorithm>
#include <utility>

#include "kernels/median/merge_network.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/median/median_merge_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/median/median_vectors-inl.hpp"

/// Loads `N` rows of `from` at byte `i`.
template <size_t N>
HWY_INLINE void load(const uint8_t (*from)[MedianMerges::pitch], int i, V8* to) {
  for (size_t k = 0; k < N; ++k) to[k] = hn::LoadU(D8(), from[k] + i);
}

/// Merges lists of N and M rows at bytes `at_a` and `at_b`, and stores ranks [first, first + count).
template <size_t N, size_t M>
HWY_INLINE void merge_rows(const uint8_t (*a)[MedianMerges::pitch], int at_a,
                           const uint8_t (*b)[MedianMerges::pitch], int at_b, size_t first, size_t count,
                           uint8_t (*to)[MedianMerges::pitch], int at) {
  V8 w[N + M];
  load<N>(a, at_a, w), load<M>(b, at_b, w + N);
  merge_in_place<N, M>(w);
  for (size_t k = 0; k < count; ++k) hn::StoreU(w[kMerge<N, M>.order[first + k]], D8(), to[k] + at);
}

/// Sorts the columns of eight rows from byte `from` on: columns of the upper seven and of the lower seven
/// rows, which share the inner six.
void sort_columns7(const uint8_t* const* rows, int from, int bytes, MedianMerges& merges) {
  const D8 d8;
  for (int i = 0; i < bytes; i += static_cast<int>(hn::Lanes(d8))) {
    V8 v[6];
    for (int k = 0; k < 6; ++k) v[k] = hn::LoadU(d8, rows[k + 1] + from + i);
    sort_6(v);
    for (int half = 0; half < 2; ++half) {
      const V8 x = hn::LoadU(d8, rows[7 * half] + from + i);
      auto& to = merges.columns[half];
      hn::StoreU(hn::Min(v[0], x), d8, to[0] + i);
      for (int k = 1; k < 6; ++k) hn::StoreU(hn::Min(v[k], hn::Max(v[k - 1], x)), d8, to[k] + i);
      hn::StoreU(hn::Max(v[5], x), d8, to[6] + i);
    }
  }
}

/// Returns the 25th value of fours[i], pairs[i + 4] and columns[i + 6]; these indices count pixels.
HWY_INLINE V8 median_of_49(const MedianMerges& merges, int half, int i, int step) {
  V8 few[21], many[22];
  load<14>(merges.pairs, i + 4 * step, few), load<7>(merges.columns[half], i + 6 * step, few + 14);
  merge_in_place<14, 7>(few);
  load<22>(merges.fours, i, many);
  // The k-th value of two sorted lists is the minimum, over all pairs of prefixes with k values in total, of
  // the larger of their last values.
  V8 median = many[21];
  for (size_t k = 0; k < 21; ++k)
    median = hn::Min(median, hn::Max(many[20 - k], few[kMerge<14, 7>.order[k]]));
  return median;
}

void median7_rows(const uint8_t* const* rows, int bytes, int step, MedianMerges& merges, uint8_t* out0,
                  uint8_t* out1) {
  const D8 d8;
  const V8 keep = alpha_mask(step);
  const int lanes = static_cast<int>(hn::Lanes(d8));
  for (int from = 0; from < bytes; from += kMedianMergeChunk) {
    const int count = std::min(kMedianMergeChunk, bytes - from);
    sort_columns7(rows, from, count + 6 * step, merges);
    for (int half = 0; half < 2; ++half) {
      uint8_t* out = half == 0 ? out0 : out1;
      if (!out) continue;
      const auto& columns = merges.columns[half];
      for (int i = 0; i < count + 4 * step; i += lanes)
        merge_rows<7, 7>(columns, i, columns, i + step, 0, 14, merges.pairs, i);
      for (int i = 0; i < count; i += lanes)
        merge_rows<14, 14>(merges.pairs, i, merges.pairs, i + 2 * step, 3, 22, merges.fours, i);
      for (int i = 0; i < count; i += lanes) {
        const V8 centre = hn::LoadU(d8, rows[3 + half] + from + i + 3 * step);
        store_pixels(median_of_49(merges, half, i, step), centre, keep, out + from + i, count - i);
      }
    }
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(median7_rows);

void median7_rows(const uint8_t* const* rows, int bytes, int step, MedianMerges& merges, uint8_t* out0,
                  uint8_t* out1) {
  HWY_DYNAMIC_DISPATCH(median7_rows)(rows, bytes, step, merges, out0, out1);
}

}  // namespace lensd
#endif
