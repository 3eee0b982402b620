#include "kernels/median/median_merge.hpp"

#include <algorithm>

#include "kernels/median/merge_network.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/median/median_merge_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/median/median_vectors-inl.hpp"

/// Loads `N` rows of `from` at sample `i`.
template <size_t N, class S>
HWY_INLINE void load(const S (*from)[MedianMerges<S>::pitch], int i, Samples<S>* to) {
  for (size_t k = 0; k < N; ++k) to[k] = hn::LoadU(hn::ScalableTag<S>(), from[k] + i);
}

/// Merges lists of N and M rows at samples `at_a` and `at_b`, and stores ranks [first, first + count).
template <size_t N, size_t M, class S>
HWY_INLINE void merge_rows(const S (*a)[MedianMerges<S>::pitch], int at_a,
                           const S (*b)[MedianMerges<S>::pitch], int at_b, size_t first, size_t count,
                           S (*to)[MedianMerges<S>::pitch], int at) {
  Samples<S> w[N + M];
  load<N, S>(a, at_a, w), load<M, S>(b, at_b, w + N);
  merge_in_place<N, M>(w);
  for (size_t k = 0; k < count; ++k)
    hn::StoreU(w[kMerge<N, M>.order[first + k]], hn::ScalableTag<S>(), to[k] + at);
}

/// Sorts `n` columns of eight rows, starting at sample `from`. Stores two results for each column: its upper
/// seven samples in merges.columns[0] and its lower seven in merges.columns[1]. Both share the inner six
/// rows.
template <class S>
void sort_columns7(const S* const* rows, int from, int n, MedianMerges<S>& merges) {
  const hn::ScalableTag<S> d;
  for (int i = 0; i < n; i += static_cast<int>(hn::Lanes(d))) {
    Samples<S> v[6];
    for (int k = 0; k < 6; ++k) v[k] = hn::LoadU(d, rows[k + 1] + from + i);
    sort_6(v);
    for (int half = 0; half < 2; ++half) {
      const Samples<S> x = hn::LoadU(d, rows[7 * half] + from + i);
      auto& to = merges.columns[half];
      hn::StoreU(hn::Min(v[0], x), d, to[0] + i);
      for (int k = 1; k < 6; ++k) hn::StoreU(hn::Min(v[k], hn::Max(v[k - 1], x)), d, to[k] + i);
      hn::StoreU(hn::Max(v[5], x), d, to[6] + i);
    }
  }
}

/// Returns the 25th value of fours[i], pairs[i + 4] and columns[i + 6]; the indices are in pixels.
template <class S>
HWY_INLINE Samples<S> median_of_49(const MedianMerges<S>& merges, int half, int i, int step) {
  Samples<S> few[21], many[22];
  load<14, S>(merges.pairs, i + 4 * step, few), load<7, S>(merges.columns[half], i + 6 * step, few + 14);
  merge_in_place<14, 7>(few);
  load<22, S>(merges.fours, i, many);
  // The k-th value of two sorted lists is the minimum, over all pairs of prefixes with k values in total, of
  // the larger of their last values.
  Samples<S> median = many[21];
  for (size_t k = 0; k < 21; ++k)
    median = hn::Min(median, hn::Max(many[20 - k], few[kMerge<14, 7>.order[k]]));
  return median;
}

template <class S>
HWY_INLINE void median7_samples(const S* const* rows, int n, int step, MedianMerges<S>& merges, S* out0,
                                S* out1) {
  const hn::ScalableTag<S> d;
  const Samples<S> keep = alpha_mask<S>(step);
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int from = 0; from < n; from += MedianMerges<S>::chunk) {
    const int count = std::min(MedianMerges<S>::chunk, n - from);
    sort_columns7(rows, from, count + 6 * step, merges);
    for (int half = 0; half < 2; ++half) {
      S* out = half == 0 ? out0 : out1;
      if (!out) continue;
      const auto& columns = merges.columns[half];
      for (int i = 0; i < count + 4 * step; i += lanes)
        merge_rows<7, 7, S>(columns, i, columns, i + step, 0, 14, merges.pairs, i);
      for (int i = 0; i < count; i += lanes)
        merge_rows<14, 14, S>(merges.pairs, i, merges.pairs, i + 2 * step, 3, 22, merges.fours, i);
      for (int i = 0; i < count; i += lanes) {
        const Samples<S> centre = hn::LoadU(d, rows[3 + half] + from + i + 3 * step);
        store_pixels<S>(median_of_49<S>(merges, half, i, step), centre, keep, out + from + i, count - i);
      }
    }
  }
}

void median7_bytes(const uint8_t* const* rows, int n, int step, MedianMerges<uint8_t>& merges, uint8_t* out0,
                   uint8_t* out1) {
  median7_samples<uint8_t>(rows, n, step, merges, out0, out1);
}
void median7_deep(const uint16_t* const* rows, int n, int step, MedianMerges<uint16_t>& merges,
                  uint16_t* out0, uint16_t* out1) {
  median7_samples<uint16_t>(rows, n, step, merges, out0, out1);
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(median7_bytes);
HWY_EXPORT(median7_deep);

void median7_rows(const uint8_t* const* rows, int n, int step, MedianMerges<uint8_t>& merges, uint8_t* out0,
                  uint8_t* out1) {
  HWY_DYNAMIC_DISPATCH(median7_bytes)(rows, n, step, merges, out0, out1);
}
void median7_rows(const uint16_t* const* rows, int n, int step, MedianMerges<uint16_t>& merges,
                  uint16_t* out0, uint16_t* out1) {
  HWY_DYNAMIC_DISPATCH(median7_deep)(rows, n, step, merges, out0, out1);
}

}  // namespace lensd
#endif
