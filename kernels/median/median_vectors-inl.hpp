// Vectors of samples for the networks: types, minima and maxima, and stores that keep alpha. S is uint8_t or
// uint16_t. This file has no include guard, because it is included inside lensd::HWY_NAMESPACE once for each
// SIMD target.

template <class S>
using Samples = hn::Vec<hn::ScalableTag<S>>;

template <class V>
HWY_INLINE V net_min(V a, V b) {
  return hn::Min(a, b);
}
template <class V>
HWY_INLINE V net_max(V a, V b) {
  return hn::Max(a, b);
}
#define LENSD_NET HWY_INLINE
#include "kernels/median/median_network-inl.hpp"
#undef LENSD_NET

/// Stores `result`, except the samples in the mask `keep` (alpha), which come from `input`. Stores at most
/// `left` samples.
template <class S>
HWY_INLINE void store_pixels(Samples<S> result, Samples<S> input, Samples<S> keep, S* out, int left) {
  const hn::ScalableTag<S> d;
  const Samples<S> pixels = hn::Or(hn::And(input, keep), hn::AndNot(keep, result));
  if (left >= static_cast<int>(hn::Lanes(d))) {
    hn::StoreU(pixels, d, out);
    return;
  }
  HWY_ALIGN S last[HWY_MAX_BYTES / sizeof(S)];
  hn::Store(pixels, d, last);
  for (int i = 0; i < left; ++i) out[i] = last[i];
}

template <class S>
HWY_INLINE Samples<S> alpha_mask(int step) {
  using Pixel = std::conditional_t<sizeof(S) == 1, uint32_t, uint64_t>;
  const hn::ScalableTag<S> d;
  const hn::Repartition<Pixel, decltype(d)> pixels;
  constexpr Pixel kAlpha = ~Pixel{0} << (24 * sizeof(S));
  return hn::BitCast(d, hn::Set(pixels, step == 4 ? kAlpha : Pixel{0}));
}
