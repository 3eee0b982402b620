#include "kernels/box/box_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/box/box_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void slide(uint16_t* sums, const uint8_t* add, const uint8_t* sub, size_t n) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const size_t lanes = hn::Lanes(d16);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto v = hn::LoadU(d16, sums + i);
    if (add) v = hn::Add(v, hn::PromoteTo(d16, hn::LoadU(d8, add + i)));
    if (sub) v = hn::Sub(v, hn::PromoteTo(d16, hn::LoadU(d8, sub + i)));
    hn::StoreU(v, d16, sums + i);
  }
  for (; i < n; ++i) sums[i] = static_cast<uint16_t>(sums[i] + (add ? add[i] : 0) - (sub ? sub[i] : 0));
}

void means_narrow(const uint16_t* columns, int step, const BoxBlock& block, uint8_t* out, size_t n) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::RebindToSigned<decltype(d16)> di16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const size_t lanes = hn::Lanes(d16), side = static_cast<size_t>(2 * block.radius + 1);
  const auto half = hn::Set(d16, static_cast<uint16_t>(block.half));
  const auto reciprocal = hn::Set(d16, block.narrow_reciprocal());
  const int shift = block.narrow_shift();
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const uint16_t* from = columns + i;
    auto sum = half;
    for (size_t k = 0; k < side; ++k, from += step) sum = hn::Add(sum, hn::LoadU(d16, from));
    const auto mean = hn::ShiftRightSame(hn::MulHigh(sum, reciprocal), shift);
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di16, mean)), d8, out + i);
  }
  for (; i < n; ++i) {
    uint32_t sum = 0;
    for (size_t k = 0; k < side; ++k) sum += columns[i + k * static_cast<size_t>(step)];
    out[i] = box_mean(sum, block);
  }
}

/// Sums of 2·radius + 1 values, each from the one before: what comes in less what goes out, summed up four at
/// a time.
void sums_gray(const uint16_t* columns, uint32_t* sums, int width, int radius) {
  const hn::CappedTag<uint32_t, 4> d32;
  const hn::Rebind<uint16_t, decltype(d32)> d16;
  const uint16_t* const head = columns + 2 * radius;
  uint32_t s = 0;
  for (int i = 0; i <= 2 * radius; ++i) s += columns[i];
  sums[0] = s;
  auto carry = hn::Set(d32, s);
  int x = 1;
  for (; x + 4 <= width; x += 4) {
    auto v = hn::Sub(hn::PromoteTo(d32, hn::LoadU(d16, head + x)),
                     hn::PromoteTo(d32, hn::LoadU(d16, columns + x - 1)));
    v = hn::Add(v, hn::ShiftLeftLanes<1>(v));
    v = hn::Add(v, hn::ShiftLeftLanes<2>(v));
    hn::StoreU(hn::Add(v, carry), d32, sums + x);
    carry = hn::Add(carry, hn::Broadcast<3>(v));
  }
  for (; x < width; ++x) sums[x] = sums[x - 1] + head[x] - columns[x - 1];
}

/// The same for four interleaved channels, a pixel a step.
void sums_rgba(const uint16_t* columns, uint32_t* sums, int width, int radius) {
  const hn::CappedTag<uint32_t, 4> d32;
  const hn::Rebind<uint16_t, decltype(d32)> d16;
  const auto pixel = [&](int i) { return hn::PromoteTo(d32, hn::LoadU(d16, columns + 4 * i)); };
  auto s = hn::Zero(d32);
  for (int i = 0; i <= 2 * radius; ++i) s = hn::Add(s, pixel(i));
  hn::StoreU(s, d32, sums);
  for (int x = 1; x < width; ++x) {
    s = hn::Add(s, hn::Sub(pixel(x + 2 * radius), pixel(x - 1)));
    hn::StoreU(s, d32, sums + 4 * x);
  }
}

/// box_mean over `n` sums.
void divide(const uint32_t* sums, const BoxBlock& block, uint8_t* out, size_t n) {
  size_t i = 0;
  const hn::ScalableTag<uint32_t> d32;
  const hn::RepartitionToWide<decltype(d32)> d64;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  const hn::RebindToSigned<decltype(d32)> di32;
  const auto half = hn::Set(d32, static_cast<uint32_t>(block.half));
  const auto reciprocal = hn::Set(d32, block.reciprocal);
  const int shift = block.shift - 32;  // the high half holds what is left, at least 0
  const size_t lanes = hn::Lanes(d32);
  for (; shift >= 0 && i + lanes <= n; i += lanes) {
    const auto v = hn::Add(hn::LoadU(d32, sums + i), half);
    const auto even = hn::ShiftRight<32>(hn::MulEven(v, reciprocal));
    const auto odd = hn::MulEven(hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d64, v))), reciprocal);
    const auto high = hn::OddEven(hn::BitCast(d32, odd), hn::BitCast(d32, even));
    const auto q = hn::ShiftRightSame(high, shift);
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di32, q)), d8, out + i);
  }
  for (; i < n; ++i) out[i] = box_mean(sums[i], block);
}

void means_wide(const uint16_t* columns, int channels, const BoxBlock& block, uint32_t* sums, uint8_t* out,
                int width) {
  (channels == 1 ? sums_gray : sums_rgba)(columns, sums, width, block.radius);
  divide(sums, block, out, static_cast<size_t>(width) * static_cast<size_t>(channels));
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(slide);
HWY_EXPORT(means_narrow);
HWY_EXPORT(means_wide);

void box_slide(uint16_t* sums, const uint8_t* add, const uint8_t* sub, size_t n) {
  HWY_DYNAMIC_DISPATCH(slide)(sums, add, sub, n);
}
void box_means_narrow(const uint16_t* columns, int step, const BoxBlock& block, uint8_t* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(means_narrow)(columns, step, block, out, n);
}
void box_means_wide(const uint16_t* columns, int channels, const BoxBlock& block, uint32_t* sums,
                    uint8_t* out, int width) {
  HWY_DYNAMIC_DISPATCH(means_wide)(columns, channels, block, sums, out, width);
}

}  // namespace lensd
#endif
