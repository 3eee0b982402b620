// This file has no include guard, because it is included inside lensd::HWY_NAMESPACE once for each SIMD
// target.

/// Combines two rows of `n` samples of type S. lanes(va, vb) computes a vector of samples. value(p, q)
/// computes one sample of the rest of the row. `colour` is a mask that repeats every 4 samples; samples
/// outside it are copied from `a`.
template <class S, class Lanes, class Value>
HWY_INLINE void combine_rows(const S* a, const S* b, S* out, size_t n,
                             hwy::UnsignedFromSize<4 * sizeof(S)> colour, const Lanes& lanes,
                             const Value& value) {
  const hn::ScalableTag<S> d;
  const hn::Repartition<decltype(colour), decltype(d)> d_four;
  const auto is_colour = hn::BitCast(d, hn::Set(d_four, colour));
  size_t x = 0;
  for (; x + hn::Lanes(d) <= n; x += hn::Lanes(d)) {
    const auto va = hn::LoadU(d, a + x), vb = hn::LoadU(d, b + x);
    hn::StoreU(hn::Or(hn::And(lanes(va, vb), is_colour), hn::AndNot(is_colour, va)), d, out + x);
  }
  for (; x < n; ++x)
    out[x] = (colour >> (x % 4 * 8 * sizeof(S)) & 1) != 0 ? static_cast<S>(value(a[x], b[x])) : a[x];
}
