#include "kernels/blend/blend.hpp"

#include "kernels/common/deep/samples.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/blend/blend.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/combine_rows-inl.hpp"
#include "kernels/common/luma_lanes-inl.hpp"

template <class D, class V = hn::Vec<D>>
HWY_INLINE V over_255(D d, V v) {
  const V t = hn::Add(v, hn::Set(d, 128));
  return hn::ShiftRight<8>(hn::Add(t, hn::ShiftRight<8>(t)));
}

/// Computes blended() in 16-bit lanes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V blend_lanes(D d, BlendMode mode, V a, V b) {
  const V full = hn::Set(d, 255);
  switch (mode) {
    case BlendMode::normal:
      return b;
    case BlendMode::add:
      return hn::Min(hn::Add(a, b), full);
    case BlendMode::screen:
      return hn::Sub(full, over_255(d, hn::Mul(hn::Sub(full, a), hn::Sub(full, b))));
    case BlendMode::multiply:
    case BlendMode::mask:
      return over_255(d, hn::Mul(a, b));
    case BlendMode::difference:
      return hn::Sub(hn::Max(a, b), hn::Min(a, b));
  }
  return a;
}

/// Blends `bytes` bytes of a row. `colour` is a mask that repeats every 4 bytes; bytes outside it are copied
/// from `a`. The mode is the same for the whole row, so the branch on it is predicted.
void blend_row(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t bytes, BlendBlock block,
               uint32_t colour) {
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint16_t, decltype(d8)> d16;
  const auto opacity = hn::Set(d16, block.opacity_q8),
             rest = hn::Set(d16, static_cast<uint16_t>(256 - block.opacity_q8));
  const auto half = hn::Set(d16, 128), low_byte = hn::Set(d16, 0xff);
  const auto mix = [&](auto va, auto vb) {
    const auto f = blend_lanes(d16, block.mode, va, vb);
    return hn::ShiftRight<8>(hn::Add(hn::Add(hn::Mul(va, rest), hn::Mul(f, opacity)), half));
  };
  combine_rows(
      a, b, out, bytes, colour,
      [&](auto va, auto vb) {
        const auto a16 = hn::BitCast(d16, va), b16 = hn::BitCast(d16, vb);
        const auto even = mix(hn::And(a16, low_byte), hn::And(b16, low_byte));
        const auto odd = mix(hn::ShiftRight<8>(a16), hn::ShiftRight<8>(b16));
        return hn::BitCast(d8, hn::Or(even, hn::ShiftLeft<8>(odd)));
      },
      [&](uint8_t p, uint8_t q) { return faded(p, blended(block.mode, p, q), block.opacity_q8); });
}

/// Applies mask mode to a row of RGBA pixels: multiplies the colours of `a` by the luma of `b`.
void mask_row(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t width, uint32_t opacity_q8) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const hn::RebindToSigned<decltype(d16)> di16;  // DemoteTo needs signed lanes
  const auto opacity = hn::Set(d16, static_cast<uint16_t>(opacity_q8));
  const auto rest = hn::Set(d16, static_cast<uint16_t>(256 - opacity_q8)), half = hn::Set(d16, 128);
  size_t x = 0;
  for (; x + hn::Lanes(d16) <= width; x += hn::Lanes(d16)) {
    hn::Vec<decltype(d8)> r, g, bl, alpha, mr, mg, mb, unused;
    hn::LoadInterleaved4(d8, a + 4 * x, r, g, bl, alpha);
    hn::LoadInterleaved4(d8, b + 4 * x, mr, mg, mb, unused);
    const auto luma = luma_lanes(d16, mr, mg, mb);
    const auto mix = [&](auto v8) {
      const auto v = hn::PromoteTo(d16, v8);
      const auto f = over_255(d16, hn::Mul(v, luma));
      const auto out16 = hn::ShiftRight<8>(hn::Add(hn::Add(hn::Mul(v, rest), hn::Mul(f, opacity)), half));
      return hn::DemoteTo(d8, hn::BitCast(di16, out16));
    };
    hn::StoreInterleaved4(mix(r), mix(g), mix(bl), alpha, d8, out + 4 * x);
  }
  for (; x < width; ++x) {
    const uint8_t *p = a + 4 * x, *q = b + 4 * x;
    const auto luma = static_cast<uint32_t>(luma_q8(q[0], q[1], q[2]));
    for (size_t c = 0; c < 3; ++c)
      out[4 * x + c] = static_cast<uint8_t>(faded(p[c], blended(BlendMode::mask, p[c], luma), opacity_q8));
    out[4 * x + 3] = p[3];
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(blend_row);
HWY_EXPORT(mask_row);

FilterSchema Blend::make_schema() {
  using P = BlendParams;
  return Schema<P>("blend", "overlays the second input on the first")
      .choice("mode", &P::mode, {"normal", "add", "screen", "multiply", "difference", "mask"},
              "how the inputs are combined; mask shows the first where the second is bright")
      .real("opacity", &P::opacity, 0, 1, "0 shows the first input unchanged")
      .build();
}

void Blend::apply_deep(const PassArgs& args, Band band) const {
  const ConstImageRef a = args.in[0], b = args.in[1];
  const BlendBlock block = block_of(args);
  const bool by_luma = block.mode == BlendMode::mask && b.channels() == 4;
  deep_samples(a, args.out, band, [&b, block, by_luma](int y) {
    return [block, by_luma, other = b.samples<uint16_t>(y)](int i, uint32_t v) {
      const uint16_t* pixel = other + i / 4 * 4;
      const uint32_t with =
          by_luma ? static_cast<uint32_t>(deep_luma(pixel[0], pixel[1], pixel[2])) : other[i];
      return faded(v, deep_blended(block.mode, v, with), block.opacity_q8);
    };
  });
}

void Blend::apply(const PassArgs& args, Band band) const {
  if (args.in[0].is_deep()) return apply_deep(args, band);
  const ConstImageRef a = args.in[0], b = args.in[1];
  const BlendBlock& block = block_of(args);
  const bool by_luma = block.mode == BlendMode::mask && a.format.format == PixelFormat::rgba8;
  for (int y = band.begin; y < band.end; ++y) {
    const uint8_t *first = a.row(y), *second = b.row(y);
    uint8_t* out = args.out.row(y);
    if (by_luma)
      HWY_DYNAMIC_DISPATCH(mask_row)(first, second, out, static_cast<size_t>(a.width()), block.opacity_q8);
    else
      HWY_DYNAMIC_DISPATCH(blend_row)(first, second, out, a.row_bytes(), block, colour_bits(a.format.format));
  }
}

void Blend::reference(ReferenceRun& run) const {
  const Image &a = run.in[0], &b = run.in[1];
  const BlendBlock block = BlendBlock::make(params_);
  run.out = a;
  const int colours = colour_channels(a.format.format);
  for_each_sample(a.format.extent, colours, [&](int x, int y, int c) {
    auto other = static_cast<uint32_t>(b.sample(x, y, c));
    if (block.mode == BlendMode::mask && colours == 3)
      other = static_cast<uint32_t>(
          (b.is_deep() ? deep_luma : luma_q8)(b.sample(x, y, 0), b.sample(x, y, 1), b.sample(x, y, 2)));
    const auto v = static_cast<uint32_t>(a.sample(x, y, c));
    const uint32_t f = a.is_deep() ? deep_blended(block.mode, v, other) : blended(block.mode, v, other);
    run.out.set_sample(x, y, c, static_cast<int>(faded(v, f, block.opacity_q8)));
  });
}

}  // namespace lensd
#endif
