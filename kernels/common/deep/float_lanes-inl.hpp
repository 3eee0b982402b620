// This file has no include guard, because it is included inside lensd::HWY_NAMESPACE once for each SIMD
// target.

template <class D>
using Samples16 = hn::Rebind<uint16_t, D>;

/// Returns 16-bit samples as floats.
template <class D>
HWY_INLINE hn::Vec<D> widened(D d, hn::Vec<Samples16<D>> samples) {
  return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), samples));
}

/// Returns a mask of the samples to keep: alpha in images with four channels, none in others.
template <class D16>
HWY_INLINE hn::Vec<D16> alpha_mask(D16 d16, int channels) {
  return hn::BitCast(d16, hn::Set(hn::Repartition<uint64_t, D16>(), channels == 4 ? 0xffff000000000000u : 0));
}

/// Writes values, which must not be negative, rounded to nearest and clamped to 65535. Copies the samples in
/// the mask `kept` from `old`.
template <class D>
HWY_INLINE void store_samples(D d, hn::Vec<D> values, hn::Vec<Samples16<D>> kept, const uint16_t* old,
                              uint16_t* to) {
  const Samples16<D> d16;
  const auto rounded =
      hn::DemoteTo(d16, hn::ConvertTo(hn::RebindToSigned<D>(), hn::Add(values, hn::Set(d, 0.5f))));
  hn::StoreU(hn::Or(hn::AndNot(kept, rounded), hn::And(kept, hn::LoadU(d16, old))), d16, to);
}
