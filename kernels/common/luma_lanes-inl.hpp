// This file has no include guard, because it is included inside lensd::HWY_NAMESPACE once for each SIMD
// target.

/// Returns luma_q8() of bytes, in unsigned 16-bit lanes.
template <class D16, class V8>
HWY_INLINE hn::Vec<D16> luma_lanes(D16 d16, V8 r, V8 g, V8 b) {
  const auto weighted = [&](V8 v, int weight) {
    return hn::Mul(hn::PromoteTo(d16, v), hn::Set(d16, static_cast<uint16_t>(weight)));
  };
  const auto sum = hn::Add(hn::Add(weighted(r, kLumaR), weighted(g, kLumaG)),
                           hn::Add(weighted(b, kLumaB), hn::Set(d16, uint16_t{128})));
  return hn::ShiftRight<8>(sum);
}
