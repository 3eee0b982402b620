// Vectors of bytes for the networks: types, minima and maxima, and stores that keep alpha. Included inside
// lensd::HWY_NAMESPACE, once for each SIMD target; hence no guard.

using D8 = hn::ScalableTag<uint8_t>;
using V8 = hn::Vec<D8>;

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

/// Stores `result`, except the bytes in the mask `keep` (alpha), which come from `input`. Stores at most
/// `bytes_left` bytes.
HWY_INLINE void store_pixels(V8 result, V8 input, V8 keep, uint8_t* out, int bytes_left) {
  const D8 d8;
  const V8 pixels = hn::Or(hn::And(input, keep), hn::AndNot(keep, result));
  if (bytes_left >= static_cast<int>(hn::Lanes(d8))) {
    hn::StoreU(pixels, d8, out);
    return;
  }
  HWY_ALIGN uint8_t last[HWY_MAX_BYTES];
  hn::Store(pixels, d8, last);
  for (int i = 0; i < bytes_left; ++i) out[i] = last[i];
}

HWY_INLINE V8 alpha_mask(int step) {
  const hn::Repartition<uint32_t, D8> d32;
  return hn::BitCast(D8(), hn::Set(d32, step == 4 ? 0xff000000u : 0u));
}
