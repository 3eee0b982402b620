#include "kernels/flip/flip.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/flip/flip.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Mirrors a row of pixels as large as `Pixel`: out[i] = in[width − 1 − i].
template <class Pixel>
HWY_INLINE void mirror_pixels(const uint8_t* in, uint8_t* out, size_t width) {
  constexpr size_t kBytes = sizeof(Pixel);
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<Pixel, decltype(d8)> d;
  const size_t lanes = hn::Lanes(d);
  size_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto v = hn::BitCast(d, hn::LoadU(d8, in + (width - x - lanes) * kBytes));
    hn::StoreU(hn::BitCast(d8, hn::Reverse(d, v)), d8, out + x * kBytes);
  }
  for (; x < width; ++x) std::memcpy(out + x * kBytes, in + (width - 1 - x) * kBytes, kBytes);
}

void mirror_gray16(const uint8_t* in, uint8_t* out, size_t width) {
  mirror_pixels<uint16_t>(in, out, width);
}
void mirror_rgba(const uint8_t* in, uint8_t* out, size_t width) {
  mirror_pixels<uint32_t>(in, out, width);
}
void mirror_rgba16(const uint8_t* in, uint8_t* out, size_t width) {
  mirror_pixels<uint64_t>(in, out, width);
}

/// Mirrors a row of 1-byte pixels.
void mirror_gray(const uint8_t* in, uint8_t* out, size_t width) {
  size_t x = 0;
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint16_t, decltype(d8)> d16;
  const size_t lanes = hn::Lanes(d8);
  for (; x + lanes <= width; x += lanes) {
    const auto words = hn::Reverse(d16, hn::BitCast(d16, hn::LoadU(d8, in + width - x - lanes)));
    const auto swapped = hn::Or(hn::ShiftLeft<8>(words), hn::ShiftRight<8>(words));
    hn::StoreU(hn::BitCast(d8, swapped), d8, out + x);
  }
  for (; x < width; ++x) out[x] = in[width - 1 - x];
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(mirror_rgba);
HWY_EXPORT(mirror_gray);
HWY_EXPORT(mirror_gray16);
HWY_EXPORT(mirror_rgba16);

void flip_rows(const FlipBlock& flip, const ConstImageRef& in, const ImageRef& out, Band band) {
  const int bytes = in.pixel_bytes();
  const auto mirror = bytes == 1   ? &HWY_DYNAMIC_DISPATCH(mirror_gray)
                      : bytes == 2 ? &HWY_DYNAMIC_DISPATCH(mirror_gray16)
                      : bytes == 4 ? &HWY_DYNAMIC_DISPATCH(mirror_rgba)
                                   : &HWY_DYNAMIC_DISPATCH(mirror_rgba16);
  for (int y = band.begin; y < band.end; ++y) {
    const uint8_t* row = in.row(flip.y ? in.height() - 1 - y : y);
    if (flip.x)
      mirror(row, out.row(y), static_cast<size_t>(in.width()));
    else
      std::memcpy(out.row(y), row, in.row_bytes());
  }
}

FilterSchema Flip::make_schema() {
  return Schema<FlipParams>("flip", "mirrors the picture")
      .choice("mode", &FlipParams::mode, {"horizontal", "vertical", "both"},
              "left to right, top to bottom, or both")
      .build();
}

void Flip::apply(const PassArgs& args, Band band) const {
  flip_rows(block_of(args), args.in[0], args.out, band);
}

void Flip::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const FlipBlock flip = FlipBlock::make(params_);
  run.out = Image(in.format);
  for_each_sample(in.format.extent, in.channels(), [&](int x, int y, int c) {
    run.out.set_sample(x, y, c,
                       in.sample(flip.x ? in.width() - 1 - x : x, flip.y ? in.height() - 1 - y : y, c));
  });
}

}  // namespace lensd
#endif
