#include "kernels/bilateral/deep_bilateral.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bilateral/deep_bilateral.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using V = hn::Vec<F32>;

/// Computes deep_bilateral_exp2() in each lane. Does not use fused operations, which round differently.
HWY_INLINE V deep_bilateral_exp2_lanes(V x) {
  const F32 f32;
  const hn::RebindToUnsigned<F32> u32;
  const V round = hn::Set(f32, kExp2Round);
  x = hn::Max(x, hn::Set(f32, kExp2Least));
  const V rounded = hn::Add(x, round), f = hn::Sub(x, hn::Sub(rounded, round));
  V power = hn::Add(hn::Mul(hn::Set(f32, kExp2[3]), f), hn::Set(f32, kExp2[2]));
  power = hn::Add(hn::Mul(power, f), hn::Set(f32, kExp2[1]));
  power = hn::Add(hn::Mul(power, f), hn::Set(f32, kExp2[0]));
  power = hn::Add(hn::Mul(power, f), hn::Set(f32, 1.0f));
  return hn::BitCast(f32, hn::Add(hn::BitCast(u32, power), hn::ShiftLeft<23>(hn::BitCast(u32, rounded))));
}

/// Sums of a vector of pixels.
struct DeepBilateralSums {
  V centre, sum, weights;

  HWY_INLINE static V load(const uint16_t* from) {
    const hn::RebindToSigned<F32> i32;
    const hn::Rebind<uint16_t, F32> u16;
    return hn::ConvertTo(F32(), hn::PromoteTo(i32, hn::LoadU(u16, from)));
  }
  HWY_INLINE explicit DeepBilateralSums(const uint16_t* from)
      : centre(load(from)), sum(hn::Zero(F32())), weights(hn::Set(F32(), 1.0f)) {}
  HWY_INLINE void add(const uint16_t* from, V colour, V space) {
    const V d = hn::Sub(load(from), centre);
    const V w = deep_bilateral_exp2_lanes(hn::Add(hn::Mul(hn::Mul(d, d), colour), space));
    weights = hn::Add(weights, w), sum = hn::Add(sum, hn::Mul(w, d));
  }
  HWY_INLINE void store(uint16_t* to) const {
    const hn::RebindToSigned<F32> i32;
    const hn::Rebind<uint16_t, F32> u16;
    const V mean = hn::Add(hn::Add(centre, hn::Div(sum, weights)), hn::Set(F32(), 0.5f));
    hn::StoreU(hn::DemoteTo(u16, hn::ConvertTo(i32, mean)), u16, to);  // clamped to 0 … 65535
  }
};

void deep_bilateral_lanes(const uint16_t* centre, const uint16_t* const* taps, const BilateralBlock& block,
                          uint16_t* out, size_t n) {
  const size_t lanes = hn::Lanes(F32());
  const V colour = hn::Set(F32(), block.deep_colour);
  for (size_t i = 0; i < n; i += 2 * lanes) {
    DeepBilateralSums first(centre + i), second(centre + i + lanes);
    for (int t = 0; t < block.deep_count; ++t) {
      const V space = hn::Set(F32(), block.deep_taps[t].space);
      first.add(taps[t] + i, colour, space);
      second.add(taps[t] + i + lanes, colour, space);
    }
    if (i + 2 * lanes <= n) {
      first.store(out + i), second.store(out + i + lanes);
    } else {
      uint16_t last[HWY_MAX_BYTES / 2];
      first.store(last), second.store(last + lanes);
      for (size_t k = 0; i + k < n; ++k) out[i + k] = last[k];
    }
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(deep_bilateral_lanes);

void deep_bilateral_row(const uint16_t* centre, const uint16_t* const* taps, const BilateralBlock& block,
                        uint16_t* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(deep_bilateral_lanes)(centre, taps, block, out, n);
}

}  // namespace lensd
#endif
