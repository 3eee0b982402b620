#include "kernels/stabilize/stabilize_simd.hpp"

#include "kernels/common/samples.hpp"

#include "kernels/stabilize/stabilize.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stabilize/stabilize_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
#include "kernels/common/pair_dot-inl.hpp"

/// Adds pairs to `sum` in whole vectors, from the first pair on. Returns the number of added pairs.
uint32_t weigh_whole(const StabilizeWork& work, const InlierTest& test, InlierWeights& sum) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const auto lanes = static_cast<uint32_t>(hn::Lanes(df));
  const auto at = [&](const int32_t* p) { return hn::ConvertTo(df, hn::LoadU(di, p)); };
  const auto xx = hn::Set(df, test.xx), xy = hn::Set(df, test.xy), x0 = hn::Set(df, test.x0);
  const auto yx = hn::Set(df, test.yx), yy = hn::Set(df, test.yy), y0 = hn::Set(df, test.y0);
  auto whole = hn::Zero(di), half = hn::Zero(di), quarter = hn::Zero(di);
  uint32_t i = 0;
  for (; i + lanes <= work.count; i += lanes) {
    const auto px = at(work.px + i), py = at(work.py + i);
    const auto rx = hn::Sub(hn::Add(hn::Add(hn::Mul(xx, px), hn::Mul(xy, py)), x0), at(work.qx + i));
    const auto ry = hn::Sub(hn::Add(hn::Add(hn::Mul(yx, px), hn::Mul(yy, py)), y0), at(work.qy + i));
    const auto distance2 = hn::Add(hn::Mul(rx, rx), hn::Mul(ry, ry));
    const auto weight = hn::LoadU(di, work.weight + i);
    const auto within = [&](float limit) {
      return hn::IfThenElseZero(hn::RebindMask(di, hn::Le(distance2, hn::Set(df, limit))), weight);
    };
    whole = hn::Add(whole, within(test.threshold2));
    half = hn::Add(half, within(test.threshold2 * 0.25f));
    quarter = hn::Add(quarter, within(test.threshold2 * 0.0625f));
  }
  const auto total = [&](auto v) { return static_cast<uint32_t>(hn::GetLane(hn::SumOfLanes(di, v))); };
  sum.whole += total(whole), sum.half += total(half), sum.quarter += total(quarter);
  return i;
}

/// Source positions of a vector of output pixels: pixel (x, y) and the 8-bit weights (fx, fy) of its right
/// and lower neighbours.
template <class DF>
struct Sources {
  const DF df;
  const hn::RebindToSigned<DF> di;
  hn::Vec<hn::RebindToSigned<DF>> x, y, fx, fy;

  Sources(DF d, const StabilizeWarp& warp, int column, float rest_x, float rest_y) : df(d), di() {
    const auto dx = hn::Sub(hn::Iota(df, static_cast<float>(column)), hn::Set(df, warp.centre_x));
    const auto steps = [&](float slope, float rest) {
      const auto v = hn::Add(hn::Mul(hn::Set(df, slope), dx), hn::Set(df, rest));
      const auto held = hn::Min(hn::Max(v, hn::Set(df, -40000.f)), hn::Set(df, 40000.f));
      const auto scaled = hn::Add(hn::Mul(held, hn::Set(df, 256.f)), hn::Set(df, 0.5f));
      return hn::ConvertTo(di, hn::Floor(scaled));
    };
    const auto sx = steps(warp.xx, rest_x), sy = steps(warp.yx, rest_y);
    const auto low = hn::Set(di, 255);
    x = hn::ShiftRight<8>(sx), y = hn::ShiftRight<8>(sy), fx = hn::And(sx, low), fy = hn::And(sy, low);
  }
  /// Returns true if all source pixels, `reach` columns to their right and the row below are inside the
  /// picture.
  bool inside(Extent extent, int reach) const {
    const auto most_x = hn::Set(di, extent.width - 1 - reach), most_y = hn::Set(di, extent.height - 2);
    const auto zero = hn::Zero(di);
    const auto out_x = hn::Or(hn::Lt(x, zero), hn::Gt(x, most_x));
    return hn::AllFalse(di, hn::Or(out_x, hn::Or(hn::Lt(y, zero), hn::Gt(y, most_y))));
  }
};

/// Computes bilinear() for the two bytes in each lane's 16-bit halves. `left` holds 256 − fx and `right`
/// holds fx, in both halves; `along` holds 256 − fy in the lower half and fy in the upper half. The sums of a
/// row are biased by −32768, to fit in int16_t. The vertical weights add up to 256, so 32768 · 256 removes
/// the bias.
template <class D32, class V32, class V16>
HWY_INLINE V32 bilinear_halves(D32 d, V32 p00, V32 p01, V32 p10, V32 p11, V16 left, V16 right, V16 along) {
  const hn::Repartition<uint16_t, D32> d16;
  const hn::Repartition<int16_t, D32> di16;
  const hn::RebindToSigned<D32> di;
  const auto row = [&](V32 a, V32 b) {
    const auto sum = hn::Add(hn::Mul(hn::BitCast(d16, a), left), hn::Mul(hn::BitCast(d16, b), right));
    return hn::BitCast(d, hn::Xor(sum, hn::Set(d16, 0x8000)));
  };
  const V32 top = row(p00, p01), bottom = row(p10, p11), lower = hn::Set(d, 0xffffu);
  const auto weights = hn::BitCast(di16, along);
  const auto blended = [&](V32 pair) {
    return hn::Add(pair_dot(di, hn::BitCast(di16, pair), weights), hn::Set(di, 32768 * 256 + 32768));
  };
  const auto even = blended(hn::Or(hn::And(top, lower), hn::ShiftLeft<16>(bottom)));
  const auto odd = blended(hn::Or(hn::ShiftRight<16>(top), hn::AndNot(lower, bottom)));
  return hn::Or(hn::ShiftRight<16>(hn::BitCast(d, even)), hn::AndNot(lower, hn::BitCast(d, odd)));
}

/// Writes the columns of row y that fill whole vectors. Vectors with source pixels outside the picture are
/// computed pixel by pixel. Returns the first column not written.
template <bool kGray>
HWY_INLINE int warp_row(const ConstImageRef& in, const ImageRef& out, const StabilizeWarp& warp,
                        Border border, int y) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Repartition<uint8_t, decltype(df)> d8;
  const hn::Rebind<uint8_t, decltype(df)> narrow;
  const hn::Repartition<uint16_t, decltype(df)> d16;
  const hn::Repartition<uint64_t, decltype(df)> du64;
  const hn::Repartition<int64_t, decltype(df)> di64;
  const hn::Half<decltype(di)> half;
  const auto even = hn::Set(du, 0x00ff00ffu), low = hn::Set(du, 0xffu);
  constexpr int step = kGray ? 1 : 4;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const float dy = static_cast<float>(y) - warp.centre_y;
  const float rest_x = warp.xy * dy + warp.x0, rest_y = warp.yy * dy + warp.y0;
  const auto pitch = hn::Set(di, static_cast<int>(in.pitch_bytes));
  uint8_t* const row = out.row(y);
  int x = 0;
  for (; x + lanes <= out.width(); x += lanes) {
    const Sources<decltype(df)> source(df, warp, x, rest_x, rest_y);
    if (!source.inside(in.format.extent, kGray ? 3 : 1)) {  // a gather reads four bytes at once
      for (int i = x; i < x + lanes; ++i) warp_pixel(in, warp, border, i, y, row + step * i);
      continue;
    }
    const auto across = kGray ? source.x : hn::ShiftLeft<2>(source.x);
    const auto offset = hn::Add(hn::Mul(source.y, pitch), across);
    const auto below = hn::Add(offset, pitch);
    const auto fx = hn::BitCast(du, source.fx), fy = hn::BitCast(du, source.fy), one = hn::Set(du, 256);
    const auto twice = [&](auto v) { return hn::BitCast(d16, hn::Or(v, hn::ShiftLeft<16>(v))); };
    const auto left = twice(hn::Sub(one, fx)), right = twice(fx);
    const auto along = hn::BitCast(d16, hn::Or(hn::Sub(one, fy), hn::ShiftLeft<16>(fy)));
    const auto halves = [&](auto a, auto b, auto c, auto d) {
      return bilinear_halves(du, hn::And(a, even), hn::And(b, even), hn::And(c, even), hn::And(d, even), left,
                             right, along);
    };
    if constexpr (kGray) {
      const auto* base = reinterpret_cast<const uint32_t*>(in.data);
      const auto p00 = hn::GatherOffset(du, base, offset), p10 = hn::GatherOffset(du, base, below);
      const auto v = halves(p00, hn::ShiftRight<8>(p00), p10, hn::ShiftRight<8>(p10));
      hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(di, hn::And(v, low))), narrow, row + x);
    } else {
      // One 64-bit gather loads a pixel and its right neighbour, which halves the number of loads.
      const auto* base = reinterpret_cast<const uint64_t*>(in.data);
      const auto fetch = [&](auto at, auto& here, auto& next) {
        const auto first = hn::GatherOffset(du64, base, hn::PromoteTo(di64, hn::LowerHalf(half, at)));
        const auto second = hn::GatherOffset(du64, base, hn::PromoteTo(di64, hn::UpperHalf(half, at)));
        here = hn::ConcatEven(du, hn::BitCast(du, second), hn::BitCast(du, first));
        next = hn::ConcatOdd(du, hn::BitCast(du, second), hn::BitCast(du, first));
      };
      hn::Vec<decltype(du)> p00, p01, p10, p11;
      fetch(offset, p00, p01), fetch(below, p10, p11);
      const auto red_blue = halves(p00, p01, p10, p11);
      const auto green_alpha = halves(hn::ShiftRight<8>(p00), hn::ShiftRight<8>(p01), hn::ShiftRight<8>(p10),
                                      hn::ShiftRight<8>(p11));
      hn::StoreU(hn::BitCast(d8, hn::Or(red_blue, hn::ShiftLeft<8>(green_alpha))), d8, row + 4 * x);
    }
  }
  return x;
}

int warp_gray(const ConstImageRef& in, const ImageRef& out, const StabilizeWarp& warp, Border border, int y) {
  return warp_row<true>(in, out, warp, border, y);
}
int warp_rgba(const ConstImageRef& in, const ImageRef& out, const StabilizeWarp& warp, Border border, int y) {
  return warp_row<false>(in, out, warp, border, y);
}

/// Returns bilinear() − 32768 of 16-bit samples. Lanes of `top` and `bottom` hold two neighbours of a row
/// minus 32768, and lanes of `across` hold 256 − fx (low half) and fx. Weights add up to 2^16, so the bias of
/// the sum is −2^31, and the sum fits in signed 32 bits.
template <class D32, class V16, class V32>
HWY_INLINE V32 bilinear_words(D32 di, V16 top, V16 bottom, V16 across, V32 fy) {
  const auto upper = pair_dot(di, top, across), lower = pair_dot(di, bottom, across);
  const auto sum = hn::Add(hn::ShiftLeft<8>(upper), hn::Mul(hn::Sub(lower, upper), fy));
  return hn::ShiftRight<16>(hn::Add(sum, hn::Set(di, 32768)));
}

/// Variant of warp_row() for 16-bit samples.
template <bool kGray>
HWY_INLINE int warp_deep_row(const ConstImageRef& in, const ImageRef& out, const StabilizeWarp& warp,
                             Border border, int y) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Repartition<int16_t, decltype(df)> d16;
  const hn::Repartition<uint8_t, decltype(df)> d8;
  const hn::Repartition<uint64_t, decltype(df)> du64;
  const hn::Repartition<int64_t, decltype(df)> di64;
  const hn::Half<decltype(di)> half;
  const hn::Half<decltype(d16)> half16;
  constexpr int kStep = kGray ? 2 : 8;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const float dy = static_cast<float>(y) - warp.centre_y;
  const float rest_x = warp.xy * dy + warp.x0, rest_y = warp.yy * dy + warp.y0;
  const auto pitch = hn::Set(di, static_cast<int>(in.pitch_bytes));
  const auto sign = hn::Set(d16, static_cast<int16_t>(-32768));
  const auto biased = [&](auto v) HWY_ATTR { return hn::Xor(hn::BitCast(d16, v), sign); };
  uint8_t* const row = out.row(y);
  int x = 0;
  for (; x + lanes <= out.width(); x += lanes) {
    const Sources<decltype(df)> source(df, warp, x, rest_x, rest_y);
    if (!source.inside(in.format.extent, 1)) {
      for (int i = x; i < x + lanes; ++i) warp_pixel(in, warp, border, i, y, row + kStep * i);
      continue;
    }
    const auto columns = kGray ? hn::ShiftLeft<1>(source.x) : hn::ShiftLeft<3>(source.x);
    const auto offset = hn::Add(hn::Mul(source.y, pitch), columns), below = hn::Add(offset, pitch);
    const auto across = hn::Or(hn::Sub(hn::Set(di, 256), source.fx), hn::ShiftLeft<16>(source.fx));
    if constexpr (kGray) {
      const auto* base = reinterpret_cast<const uint32_t*>(in.data);
      const auto top = hn::GatherOffset(du, base, offset), bottom = hn::GatherOffset(du, base, below);
      const auto v = bilinear_words(di, biased(top), biased(bottom), hn::BitCast(d16, across), source.fy);
      const auto words = hn::Xor(hn::DemoteTo(half16, v), hn::Set(half16, static_cast<int16_t>(-32768)));
      hn::StoreU(words, half16, reinterpret_cast<int16_t*>(row) + x);
    } else {
      // The left and the right neighbour are gathered separately, then interleaved by channel.
      const auto* base = reinterpret_cast<const uint64_t*>(in.data);
      const auto pixels = [&](auto at, auto weights, auto fy, uint8_t* to) HWY_ATTR {
        const auto fetch = [&](auto from) HWY_ATTR { return biased(hn::GatherOffset(du64, base, from)); };
        const auto right = hn::Set(di64, 8), down = hn::Set(di64, static_cast<int64_t>(in.pitch_bytes));
        const auto p00 = fetch(at), p01 = fetch(hn::Add(at, right));
        const auto beneath = hn::Add(at, down);
        const auto p10 = fetch(beneath), p11 = fetch(hn::Add(beneath, right));
        // A 64-bit lane holds a pixel's weights twice. A block of 128 bits holds two pixels.
        const auto twice = [&](auto v) HWY_ATTR { return hn::Or(v, hn::ShiftLeft<32>(v)); };
        const auto w = twice(weights), f = twice(fy);
        const auto lower =
            bilinear_words(di, hn::InterleaveLower(d16, p00, p01), hn::InterleaveLower(d16, p10, p11),
                           hn::BitCast(d16, hn::InterleaveLower(du64, w, w)),
                           hn::BitCast(di, hn::InterleaveLower(du64, f, f)));
        const auto upper =
            bilinear_words(di, hn::InterleaveUpper(d16, p00, p01), hn::InterleaveUpper(d16, p10, p11),
                           hn::BitCast(d16, hn::InterleaveUpper(du64, w, w)),
                           hn::BitCast(di, hn::InterleaveUpper(du64, f, f)));
        const auto words = hn::Xor(hn::ReorderDemote2To(d16, lower, upper), sign);
        hn::StoreU(hn::BitCast(d8, words), d8, to);
      };
      const hn::Half<decltype(du)> half_u;
      const auto low = [&](auto v) HWY_ATTR { return hn::LowerHalf(half, v); };
      const auto high = [&](auto v) HWY_ATTR { return hn::UpperHalf(half, v); };
      const auto wide = [&](auto v) HWY_ATTR { return hn::PromoteTo(du64, hn::BitCast(half_u, v)); };
      uint8_t* const to = row + kStep * x;
      pixels(hn::PromoteTo(di64, low(offset)), wide(low(across)), wide(low(source.fy)), to);
      pixels(hn::PromoteTo(di64, high(offset)), wide(high(across)), wide(high(source.fy)),
             to + hn::Lanes(d8));
    }
  }
  return x;
}

int warp_gray16(const ConstImageRef& in, const ImageRef& out, const StabilizeWarp& warp, Border border,
                int y) {
  return warp_deep_row<true>(in, out, warp, border, y);
}
int warp_rgba16(const ConstImageRef& in, const ImageRef& out, const StabilizeWarp& warp, Border border,
                int y) {
  return warp_deep_row<false>(in, out, warp, border, y);
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(weigh_whole);
HWY_EXPORT(warp_gray);
HWY_EXPORT(warp_rgba);
HWY_EXPORT(warp_gray16);
HWY_EXPORT(warp_rgba16);

InlierWeights weigh_inliers(const StabilizeWork& work, const InlierTest& test) {
  InlierWeights sum;
  for (uint32_t i = HWY_DYNAMIC_DISPATCH(weigh_whole)(work, test, sum); i < work.count; ++i)
    sum.add(test, work, i);
  return sum;
}

namespace {

template <class S>
void warp_samples(const ConstImageRef& in, const StabilizeWarp& warp, Border border, int x, int y, S* out) {
  const float dx = static_cast<float>(x) - warp.centre_x, dy = static_cast<float>(y) - warp.centre_y;
  const int sx = source_steps(warp.xx, dx, warp.xy * dy + warp.x0);
  const int sy = source_steps(warp.yx, dx, warp.yy * dy + warp.y0);
  const int x0 = border_index(sx >> 8, in.width(), border),
            x1 = border_index((sx >> 8) + 1, in.width(), border);
  const int y0 = border_index(sy >> 8, in.height(), border),
            y1 = border_index((sy >> 8) + 1, in.height(), border);
  const int channels = in.channels();
  for (int c = 0; c < channels; ++c) {
    const auto at = [&](int column, int row) -> uint32_t {
      if (column < 0 || row < 0) return c == 3 ? kWhite<S> : 0;
      return in.samples<S>(row)[column * channels + c];
    };
    out[c] = static_cast<S>(bilinear(at(x0, y0), at(x1, y0), at(x0, y1), at(x1, y1),
                                     static_cast<uint32_t>(sx & 255), static_cast<uint32_t>(sy & 255)));
  }
}

}  // namespace

void warp_pixel(const ConstImageRef& in, const StabilizeWarp& warp, Border border, int x, int y,
                uint8_t* out) {
  if (in.is_deep())
    warp_samples(in, warp, border, x, y, reinterpret_cast<uint16_t*>(out));
  else
    warp_samples(in, warp, border, x, y, out);
}

void Stabilize::warp(const PassArgs& args, Band rows) const {
  const ConstImageRef in = args.in[0];
  const StabilizeWarp& warp = static_cast<const StabilizeStats*>(args.stats)->warp;
  const Border border = block_of(args).border;
  const int bytes = in.pixel_bytes();
  const auto row = bytes == 1   ? &HWY_DYNAMIC_DISPATCH(warp_gray)
                   : bytes == 2 ? &HWY_DYNAMIC_DISPATCH(warp_gray16)
                   : bytes == 4 ? &HWY_DYNAMIC_DISPATCH(warp_rgba)
                                : &HWY_DYNAMIC_DISPATCH(warp_rgba16);
  for (int y = rows.begin; y < rows.end; ++y)
    for (int x = row(in, args.out, warp, border, y); x < in.width(); ++x)
      warp_pixel(in, warp, border, x, y, args.out.row(y) + x * bytes);
}

}  // namespace lensd
#endif
