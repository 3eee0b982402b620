#include "kernels/resize/deep_resize_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resize/deep_resize_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Computes rounded means of 2×2 samples in whole vectors. Returns the number of means.
size_t deep_half_gray(const uint16_t* upper, const uint16_t* lower, size_t n, uint16_t* out) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::Repartition<uint32_t, decltype(d16)> d32;
  const hn::RebindToSigned<decltype(d32)> di32;
  const hn::Half<decltype(d16)> half;
  const size_t lanes = hn::Lanes(half);
  const auto pairs = [&](const uint16_t* p) HWY_ATTR {
    const auto v = hn::BitCast(d32, hn::LoadU(d16, p));
    return hn::Add(hn::And(v, hn::Set(d32, 0xffff)), hn::ShiftRight<16>(v));
  };
  size_t x = 0;
  for (; x + lanes <= n; x += lanes) {
    const auto sum = hn::Add(hn::Add(pairs(upper + 2 * x), pairs(lower + 2 * x)), hn::Set(d32, 2));
    hn::StoreU(hn::DemoteTo(half, hn::BitCast(di32, hn::ShiftRight<2>(sum))), half, out + x);
  }
  return x;
}

/// Computes rounded means of 2×2 RGBA pixels in whole vectors. A 32-bit lane holds two channels. Their sums
/// are computed in separate vectors, so that the results need no packing.
size_t deep_half_rgba(const uint16_t* upper, const uint16_t* lower, size_t n, uint16_t* out) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::Repartition<uint32_t, decltype(d16)> d32;
  const hn::Repartition<uint64_t, decltype(d16)> d64;
  const size_t lanes = hn::Lanes(d16);
  const auto low = hn::Set(d32, 0xffff);
  size_t x = 0;
  for (; x + lanes <= n; x += lanes) {
    auto even_channels = hn::Set(d32, 2), odd_channels = even_channels;
    for (const uint16_t* row : {upper, lower}) {
      const auto a = hn::BitCast(d64, hn::LoadU(d16, row + 2 * x));
      const auto b = hn::BitCast(d64, hn::LoadU(d16, row + 2 * x + lanes));
      const auto left = hn::BitCast(d32, hn::ConcatEven(d64, b, a)),
                 right = hn::BitCast(d32, hn::ConcatOdd(d64, b, a));
      even_channels = hn::Add(even_channels, hn::Add(hn::And(left, low), hn::And(right, low)));
      odd_channels = hn::Add(odd_channels, hn::Add(hn::ShiftRight<16>(left), hn::ShiftRight<16>(right)));
    }
    const auto means =
        hn::Or(hn::ShiftRight<2>(even_channels), hn::ShiftLeft<16>(hn::ShiftRight<2>(odd_channels)));
    hn::StoreU(hn::BitCast(d16, means), d16, out + x);
  }
  return x;
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(deep_half_gray);
HWY_EXPORT(deep_half_rgba);

void deep_half_row(const uint16_t* upper, const uint16_t* lower, int channels, size_t n, uint16_t* out) {
  const size_t step = static_cast<size_t>(channels);
  size_t i = channels == 1 ? HWY_DYNAMIC_DISPATCH(deep_half_gray)(upper, lower, n, out)
                           : HWY_DYNAMIC_DISPATCH(deep_half_rgba)(upper, lower, n, out);
  for (; i < n; ++i) {
    const size_t at = i / step * step * 2 + i % step;
    const uint32_t sum = uint32_t{upper[at]} + upper[at + step] + lower[at] + lower[at + step];
    out[i] = static_cast<uint16_t>((sum + 2) >> 2);
  }
}

}  // namespace lensd
#endif
