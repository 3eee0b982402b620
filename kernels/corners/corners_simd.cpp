#include "kernels/corners/corners_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/corners/corners_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/pair_dot-inl.hpp"

/// Computes the gradients of a row. `load(row, x)` returns the pixels from x on as 16-bit lanes.
template <class Pixel, class Load>
HWY_INLINE void corner_gradients_of(const Pixel* above, const Pixel* at, const Pixel* below,
                                    int32_t* gradient, int width, Load load) {
  const hn::ScalableTag<int16_t> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const hn::Half<decltype(d16)> half;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const auto weigh = [](auto a, auto b, auto c) { return hn::Add(hn::Add(a, c), hn::Add(b, b)); };
  const auto low = hn::Set(d32, 0xffff);
  for (int x = 0; x < width; x += lanes) {
    const auto a = load(above, x - 1), c = load(above, x + 1), g = load(below, x - 1), i = load(below, x + 1);
    const auto dx = hn::Sub(weigh(c, load(at, x + 1), i), weigh(a, load(at, x - 1), g));
    const auto dy = hn::Sub(weigh(g, load(below, x), i), weigh(a, load(above, x), c));
    const auto pair = [&](auto dx_half, auto dy_half) {
      return hn::Or(hn::And(hn::PromoteTo(d32, dx_half), low),
                    hn::ShiftLeft<16>(hn::PromoteTo(d32, dy_half)));
    };
    hn::StoreU(pair(hn::LowerHalf(half, dx), hn::LowerHalf(half, dy)), d32, gradient + x);
    hn::StoreU(pair(hn::UpperHalf(half, dx), hn::UpperHalf(half, dy)), d32, gradient + x + lanes / 2);
  }
}

void corner_gradients(const uint8_t* above, const uint8_t* at, const uint8_t* below, int32_t* gradient,
                      int width) {
  const hn::ScalableTag<int16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  corner_gradients_of(above, at, below, gradient, width, [&](const uint8_t* row, int x) HWY_ATTR {
    return hn::PromoteTo(d16, hn::LoadU(d8, row + x));
  });
}

void corner_deep_gradients(const uint16_t* above, const uint16_t* at, const uint16_t* below, int bits,
                           int32_t* gradient, int width) {
  const hn::ScalableTag<int16_t> d16;
  const hn::RebindToUnsigned<decltype(d16)> du16;
  const auto half = hn::Set(d16, static_cast<int16_t>(64 >> bits));
  corner_gradients_of(above, at, below, gradient, width, [&](const uint16_t* row, int x) HWY_ATTR {
    const auto pixel = hn::BitCast(d16, hn::LoadU(du16, row + x));
    return hn::ShiftRightSame(hn::Add(pixel, half), 7 - bits);
  });
}

void corner_columns(const int32_t* added, const int32_t* removed, const CornerColumns& sums, int count) {
  const hn::ScalableTag<int32_t> d32;
  const hn::Repartition<int16_t, decltype(d32)> d16;
  const hn::RebindToUnsigned<decltype(d32)> du32;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  const auto low = hn::Set(d32, 0xffff);
  for (int x = 0; x < count; x += lanes) {
    const auto in = hn::LoadU(d32, added + x), out = hn::LoadU(d32, removed + x);
    const auto dot = [&](auto pair, auto other) {
      return pair_dot(d32, hn::BitCast(d16, pair), hn::BitCast(d16, other));
    };
    const auto swapped = [&](auto pair) { return hn::ShiftRight<16>(hn::BitCast(du32, pair)); };
    const auto update = [&](int32_t* sum, auto plus, auto minus) {
      hn::StoreU(hn::Add(hn::LoadU(d32, sum + x), hn::Sub(plus, minus)), d32, sum + x);
    };
    update(sums.s, dot(in, in), dot(out, out));
    update(sums.a, dot(in, hn::And(in, low)), dot(out, hn::And(out, low)));
    update(sums.b, dot(in, swapped(in)), dot(out, swapped(out)));
  }
}

/// Returns s² − d² − e²: the exact integer, rounded to double and then to float.
template <bool Narrow, class D32, class V32>
HWY_INLINE hn::Vec<hn::Rebind<float, D32>> corner_squares(D32 d32, V32 s, V32 d, V32 e) {
  const hn::Rebind<float, D32> f32;
  const hn::Half<D32> half32;
  const hn::Half<decltype(f32)> half_f32;
  const hn::RepartitionToWide<decltype(f32)> f64;
  const hn::RepartitionToWide<D32> d64;
  const auto part = [&](auto hs, auto hd, auto he) {
    if constexpr (Narrow) {
      const auto ws = hn::PromoteTo(f64, hs), wd = hn::PromoteTo(f64, hd), we = hn::PromoteTo(f64, he);
      return hn::DemoteTo(half_f32, hn::Sub(hn::Sub(hn::Mul(ws, ws), hn::Mul(wd, wd)), hn::Mul(we, we)));
    } else {
      const auto square = [&](auto h) {
        const auto wide = hn::BitCast(d32, hn::PromoteTo(d64, h));
        return hn::MulEven(wide, wide);
      };
      return hn::DemoteTo(half_f32, hn::ConvertTo(f64, hn::Sub(hn::Sub(square(hs), square(hd)), square(he))));
    }
  };
  const auto upper = part(hn::UpperHalf(half32, s), hn::UpperHalf(half32, d), hn::UpperHalf(half32, e));
  const auto lower = part(hn::LowerHalf(half32, s), hn::LowerHalf(half32, d), hn::LowerHalf(half32, e));
  return hn::Combine(f32, upper, lower);
}

/// Computes a row of smallest eigenvalues. `Block`: the block size, or 0 if known only at run time.
template <int Block, bool Narrow>
float corner_strengths(const CornerColumns& sums, int block, float least, float* strength, int width) {
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<float, decltype(d32)> f32;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  // Twice the eigenvalue is at most s − max(|d|, |e|). The bound is slightly below 2 · least to allow for
  // rounding.
  const double bound = 2.0 * static_cast<double>(least) * 0.9999;
  const auto skip = hn::Set(d32, bound < 2e9 ? static_cast<int32_t>(bound) : 2000000000);
  auto most = hn::Zero(f32);
  for (int x = 0; x < width; x += lanes) {
    const auto across = [&](const int32_t* columns) {
      auto sum = hn::LoadU(d32, columns + x);
      if constexpr (Block > 0) {
        for (int k = 1; k < Block; ++k) sum = hn::Add(sum, hn::LoadU(d32, columns + x + k));
      } else {
        for (int k = 1; k < block; ++k) sum = hn::Add(sum, hn::LoadU(d32, columns + x + k));
      }
      return sum;
    };
    const auto s = across(sums.s), a = across(sums.a), b = across(sums.b);
    const auto d = hn::Sub(hn::Add(a, a), s), e = hn::Add(b, b);
    const auto bounded = hn::Sub(s, hn::Max(hn::Abs(d), hn::Abs(e)));
    if (hn::AllFalse(d32, hn::Gt(bounded, skip))) {
      hn::StoreU(hn::Zero(f32), f32, strength + x);
      continue;
    }
    const auto square = corner_squares<Narrow>(d32, s, d, e);
    const auto fd = hn::ConvertTo(f32, d), fe = hn::ConvertTo(f32, e), fs = hn::ConvertTo(f32, s);
    const auto r = hn::Sqrt(hn::Add(hn::Mul(fd, fd), hn::Mul(fe, fe)));
    const auto below = hn::Max(hn::Add(fs, r), hn::Set(f32, 1.0f));  // differs from s + r only if s is 0
    auto value = hn::Div(hn::Mul(hn::Set(f32, 0.5f), square), below);
    if (x + lanes > width) value = hn::IfThenElseZero(hn::FirstN(f32, static_cast<size_t>(width - x)), value);
    hn::StoreU(value, f32, strength + x);
    most = hn::Max(most, value);
  }
  return hn::GetLane(hn::MaxOfLanes(f32, most));
}

float corner_strengths_any(const CornerColumns& sums, int block, bool narrow, float least, float* strength,
                           int width) {
  const auto computed = [&](auto compute) { return compute(sums, block, least, strength, width); };
  if (narrow) return computed(block == 3 ? &corner_strengths<3, true> : &corner_strengths<0, true>);
  return computed(block == 3 ? &corner_strengths<3, false> : &corner_strengths<0, false>);
}

int corner_maxima(const float* above, const float* at, const float* below, int width, float least,
                  uint32_t* out_x, float* out_strength) {
  const hn::ScalableTag<float> f32;
  const hn::Rebind<uint32_t, decltype(f32)> u32;
  const int lanes = static_cast<int>(hn::Lanes(f32));
  const auto threshold = hn::Set(f32, least);
  int count = 0;
  for (int x = 1; x < width - 1; x += lanes) {
    const auto load = [&](const float* row, int offset) { return hn::LoadU(f32, row + x + offset); };
    const auto v = load(at, 0);
    auto peak = hn::Gt(v, hn::Max(threshold, load(at, -1)));
    if (x + lanes > width - 1) peak = hn::And(peak, hn::FirstN(f32, static_cast<size_t>(width - 1 - x)));
    if (hn::AllFalse(f32, peak)) continue;
    const auto before = hn::Max(hn::Max(load(above, -1), load(above, 0)), load(above, 1));
    const auto after =
        hn::Max(hn::Max(hn::Max(load(below, -1), load(below, 0)), load(below, 1)), load(at, 1));
    peak = hn::And(peak, hn::And(hn::Gt(v, before), hn::Ge(v, after)));
    if (hn::AllFalse(f32, peak)) continue;
    hn::CompressStore(hn::Iota(u32, static_cast<uint32_t>(x)), hn::RebindMask(u32, peak), u32, out_x + count);
    count += static_cast<int>(hn::CompressStore(v, peak, f32, out_strength + count));
  }
  return count;
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(corner_gradients);
HWY_EXPORT(corner_deep_gradients);
HWY_EXPORT(corner_columns);
HWY_EXPORT(corner_strengths_any);
HWY_EXPORT(corner_maxima);

void corner_gradient_row(const uint8_t* above, const uint8_t* at, const uint8_t* below, int32_t* gradient,
                         int width) {
  HWY_DYNAMIC_DISPATCH(corner_gradients)(above, at, below, gradient, width);
}
void corner_deep_gradient_row(const uint16_t* above, const uint16_t* at, const uint16_t* below, int bits,
                              int32_t* gradient, int width) {
  HWY_DYNAMIC_DISPATCH(corner_deep_gradients)(above, at, below, bits, gradient, width);
}
void corner_columns_row(const int32_t* added, const int32_t* removed, const CornerColumns& sums, int count) {
  HWY_DYNAMIC_DISPATCH(corner_columns)(added, removed, sums, count);
}
float corner_strength_row(const CornerColumns& sums, int block, bool narrow, float least, float* strength,
                          int width) {
  return HWY_DYNAMIC_DISPATCH(corner_strengths_any)(sums, block, narrow, least, strength, width);
}
int corner_maxima_row(const float* above, const float* at, const float* below, int width, float least,
                      uint32_t* x, float* strength) {
  return HWY_DYNAMIC_DISPATCH(corner_maxima)(above, at, below, width, least, x, strength);
}

}  // namespace lensd
#endif
