#include "kernels/stabilize/stabilize_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stabilize/stabilize_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Of the first `whole` pairs, which are a multiple of the lanes that are returned in `lanes`.
uint32_t count_whole(const StabilizeWork& work, const AgreeTest& test, uint32_t& whole) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const auto lanes = static_cast<uint32_t>(hn::Lanes(df));
  const auto at = [&](const int32_t* p) { return hn::ConvertTo(df, hn::LoadU(di, p)); };
  const auto xx = hn::Set(df, test.xx), xy = hn::Set(df, test.xy), x0 = hn::Set(df, test.x0);
  const auto yx = hn::Set(df, test.yx), yy = hn::Set(df, test.yy), y0 = hn::Set(df, test.y0);
  const auto limit = hn::Set(df, test.threshold2);
  size_t votes = 0;
  for (whole = 0; whole + lanes <= work.count; whole += lanes) {
    const auto px = at(work.px + whole), py = at(work.py + whole);
    const auto rx = hn::Sub(hn::Add(hn::Add(hn::Mul(xx, px), hn::Mul(xy, py)), x0), at(work.qx + whole));
    const auto ry = hn::Sub(hn::Add(hn::Add(hn::Mul(yx, px), hn::Mul(yy, py)), y0), at(work.qy + whole));
    votes += hn::CountTrue(df, hn::Le(hn::Add(hn::Mul(rx, rx), hn::Mul(ry, ry)), limit));
  }
  return static_cast<uint32_t>(votes);
}

/// Source positions of a vector of output pixels: whole pixels and weights of 8 bits.
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
  /// Whether all lanes have `reach` more columns and a row behind their pixel.
  bool inside(Extent extent, int reach) const {
    const auto most_x = hn::Set(di, extent.width - 1 - reach), most_y = hn::Set(di, extent.height - 2);
    const auto zero = hn::Zero(di);
    const auto out_x = hn::Or(hn::Lt(x, zero), hn::Gt(x, most_x));
    return hn::AllFalse(di, hn::Or(out_x, hn::Or(hn::Lt(y, zero), hn::Gt(y, most_y))));
  }
};

/// between() of the lowest byte of each lane after a shift.
template <int kShift, class D, class V>
HWY_INLINE V between_lanes(D d, V p00, V p01, V p10, V p11, V fx, V fy) {
  const auto low = hn::Set(d, 255), one = hn::Set(d, 256);
  const auto byte = [&](V v) { return hn::And(hn::ShiftRight<kShift>(v), low); };
  const V gx = hn::Sub(one, fx), gy = hn::Sub(one, fy);
  const V top = hn::Add(hn::Mul(byte(p00), gx), hn::Mul(byte(p01), fx));
  const V bottom = hn::Add(hn::Mul(byte(p10), gx), hn::Mul(byte(p11), fx));
  return hn::ShiftRight<16>(hn::Add(hn::Add(hn::Mul(top, gy), hn::Mul(bottom, fy)), hn::Set(d, 32768)));
}

/// The first columns of row y, as many as whole vectors cover; those whose vector reaches over the rim go one
/// by one. Returns where it ended.
template <bool kGray>
HWY_INLINE int warp_row(const ConstImageRef& in, const ImageRef& out, const StabilizeWarp& warp,
                        Border border, int y) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Repartition<uint8_t, decltype(df)> d8;
  const hn::Rebind<uint8_t, decltype(df)> narrow;
  constexpr int step = kGray ? 1 : 4;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const float dy = static_cast<float>(y) - warp.centre_y;
  const float rest_x = warp.xy * dy + warp.x0, rest_y = warp.yy * dy + warp.y0;
  const auto pitch = hn::Set(di, static_cast<int>(in.pitch_bytes));
  uint8_t* const row = out.row(y);
  int x = 0;
  for (; x + lanes <= out.width(); x += lanes) {
    const Sources<decltype(df)> source(df, warp, x, rest_x, rest_y);
    if (!source.inside(in.format.extent, kGray ? 3 : 1)) {  // four bytes are fetched at once
      for (int i = x; i < x + lanes; ++i) warp_pixel(in, warp, border, i, y, row + step * i);
      continue;
    }
    const auto across = kGray ? source.x : hn::ShiftLeft<2>(source.x);
    const auto offset = hn::Add(hn::Mul(source.y, pitch), across);
    const auto* base = reinterpret_cast<const uint32_t*>(in.data);
    const auto fetch = [&](auto at) { return hn::GatherOffset(du, base, at); };
    const auto p00 = fetch(offset), p10 = fetch(hn::Add(offset, pitch));
    const auto fx = hn::BitCast(du, source.fx), fy = hn::BitCast(du, source.fy);
    if constexpr (kGray) {
      const auto v = between_lanes<0>(du, p00, hn::ShiftRight<8>(p00), p10, hn::ShiftRight<8>(p10), fx, fy);
      hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(di, v)), narrow, row + x);
    } else {
      const auto right = hn::Add(offset, hn::Set(di, 4));
      const auto p01 = fetch(right), p11 = fetch(hn::Add(right, pitch));
      const auto r = between_lanes<0>(du, p00, p01, p10, p11, fx, fy);
      const auto g = between_lanes<8>(du, p00, p01, p10, p11, fx, fy);
      const auto b = between_lanes<16>(du, p00, p01, p10, p11, fx, fy);
      const auto a = between_lanes<24>(du, p00, p01, p10, p11, fx, fy);
      const auto rg = hn::Or(r, hn::ShiftLeft<8>(g));
      const auto pixel = hn::Or(rg, hn::Or(hn::ShiftLeft<16>(b), hn::ShiftLeft<24>(a)));
      hn::StoreU(hn::BitCast(d8, pixel), d8, row + 4 * x);
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

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(count_whole);
HWY_EXPORT(warp_gray);
HWY_EXPORT(warp_rgba);

uint32_t count_agreeing(const StabilizeWork& work, const AgreeTest& test) {
  uint32_t i = 0;
  uint32_t votes = HWY_DYNAMIC_DISPATCH(count_whole)(work, test, i);
  for (; i < work.count; ++i) votes += test.agrees(work, i);
  return votes;
}

void warp_pixel(const ConstImageRef& in, const StabilizeWarp& warp, Border border, int x, int y,
                uint8_t* out) {
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
      if (column < 0 || row < 0) return c == 3 ? 255 : 0;
      return in.row(row)[column * channels + c];
    };
    out[c] = static_cast<uint8_t>(between(at(x0, y0), at(x1, y0), at(x0, y1), at(x1, y1),
                                          static_cast<uint32_t>(sx & 255), static_cast<uint32_t>(sy & 255)));
  }
}

void warp_rows(const ConstImageRef& in, const ImageRef& out, const StabilizeWarp& warp, Border border,
               Band band) {
  const bool gray = in.format.format == PixelFormat::gray8;
  const auto row = gray ? &HWY_DYNAMIC_DISPATCH(warp_gray) : &HWY_DYNAMIC_DISPATCH(warp_rgba);
  for (int y = band.begin; y < band.end; ++y)
    for (int x = row(in, out, warp, border, y); x < out.width(); ++x)
      warp_pixel(in, warp, border, x, y, out.row(y) + x * out.channels());
}

}  // namespace lensd
#endif
