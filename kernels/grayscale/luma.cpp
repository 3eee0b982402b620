#include "kernels/grayscale/luma.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/grayscale/luma.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/pair_dot-inl.hpp"

/// A pixel is a 32-bit lane: its even bytes are the pair (r, b), its odd bytes (g, a).
void luma_row(const uint8_t* rgba, uint8_t* gray, size_t pixels, const LumaBlock& w) {
  const hn::ScalableTag<int32_t> d32;
  const hn::RepartitionToNarrow<decltype(d32)> d16;
  const hn::Repartition<uint8_t, decltype(d32)> d8;
  const hn::Rebind<uint8_t, decltype(d32)> d8_quarter;
  const auto weights_rb = hn::BitCast(d16, hn::Set(d32, w.r | w.b << 16));
  const auto weights_g = hn::BitCast(d16, hn::Set(d32, w.g));
  const auto low = hn::Set(d16, int16_t{0xff});
  const auto half = hn::Set(d32, 1 << 14);
  const size_t lanes = hn::Lanes(d32);
  size_t x = 0;
  for (; x + lanes <= pixels; x += lanes) {
    const auto pixel = hn::BitCast(d16, hn::LoadU(d8, rgba + 4 * x));
    const auto rb = hn::And(pixel, low), ga = hn::And(hn::ShiftRight<8>(pixel), low);
    const auto sum = hn::Add(hn::Add(pair_dot(d32, rb, weights_rb), pair_dot(d32, ga, weights_g)), half);
    hn::StoreU(hn::DemoteTo(d8_quarter, hn::ShiftRight<15>(sum)), d8_quarter, gray + x);
  }
  for (; x < pixels; ++x) gray[x] = luma(w, rgba[4 * x], rgba[4 * x + 1], rgba[4 * x + 2]);
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(luma_row);

void luma_rows(ConstImageRef rgba, ImageRef gray, Band band, const LumaBlock& weights) {
  const auto row = &HWY_DYNAMIC_DISPATCH(luma_row);
  for (int y = band.begin; y < band.end; ++y)
    row(rgba.row(y), gray.row(y), static_cast<size_t>(rgba.width()), weights);
}

Image luma_reference(const Image& rgba, const LumaBlock& weights) {
  Image gray({PixelFormat::gray8, rgba.format.extent});
  for (int y = 0; y < rgba.height(); ++y)
    for (int x = 0; x < rgba.width(); ++x)
      gray.at(x, y) = luma(weights, rgba.at(x, y, 0), rgba.at(x, y, 1), rgba.at(x, y, 2));
  return gray;
}

}  // namespace lensd
#endif
