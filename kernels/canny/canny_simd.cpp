#include "kernels/canny/canny_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/canny/canny_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Computes vertical sums of columns [-A/2, width + A/2) with the smoothing and the derivative kernel, in
/// whole vectors: the rows have readable bytes behind them, and the sums have room.
template <int A>
void canny_columns(const CannyGradientRow& row) {
  constexpr int R = A / 2;
  const hn::ScalableTag<int16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  for (int x = -R; x < row.width + R; x += lanes) {
    auto smooth = hn::Zero(d16), derive = hn::Zero(d16);
    for (int j = -R; j <= R; ++j) {
      const auto v = hn::PromoteTo(d16, hn::LoadU(d8, row.rows[R + j] + x));
      smooth = hn::Add(smooth, hn::Mul(v, hn::Set(d16, static_cast<int16_t>(canny_smooth<A>(j)))));
      derive = hn::Add(derive, hn::Mul(v, hn::Set(d16, static_cast<int16_t>(canny_derive<A>(j)))));
    }
    hn::StoreU(smooth, d16, row.smooth + x + R);
    hn::StoreU(derive, d16, row.derive + x + R);
  }
}

/// Returns Σ weight(k) · from[k] over the aperture, scaled like canny_scale(), in 32-bit lanes.
template <int A, class D32, class Weight>
HWY_INLINE hn::Vec<D32> canny_weigh(D32 d32, const int16_t* from, Weight weight) {
  const hn::Rebind<int16_t, D32> d16;
  auto sum = hn::Zero(d32);
  if constexpr (A == 7) {
    for (int k = -3; k <= 3; ++k)
      if (weight(k) != 0)
        sum = hn::Add(sum, hn::Mul(hn::PromoteTo(d32, hn::LoadU(d16, from + k)), hn::Set(d32, weight(k))));
    const auto tie = hn::And(hn::ShiftRight<4>(sum), hn::Set(d32, 1));
    return hn::ShiftRight<4>(hn::Add(hn::Add(sum, hn::Set(d32, 7)), tie));
  } else {
    auto narrow = hn::Zero(d16);
    for (int k = -A / 2; k <= A / 2; ++k)
      if (weight(k) != 0)
        narrow =
            hn::Add(narrow, hn::Mul(hn::LoadU(d16, from + k), hn::Set(d16, static_cast<int16_t>(weight(k)))));
    return hn::PromoteTo(d32, narrow);
  }
}

template <int A>
void canny_gradient(const CannyGradientRow& row, bool l2) {
  constexpr int R = A / 2;
  canny_columns<A>(row);
  const int16_t *smooth = row.smooth + R, *derive = row.derive + R;
  int x = 0;
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<int16_t, decltype(d32)> d16;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  for (; x + lanes <= row.width; x += lanes) {
    const auto dx = canny_weigh<A>(d32, smooth + x, [](int k) { return canny_derive<A>(k); });
    const auto dy = canny_weigh<A>(d32, derive + x, [](int k) { return canny_smooth<A>(k); });
    hn::StoreU(hn::DemoteTo(d16, dx), d16, row.dx + x);
    hn::StoreU(hn::DemoteTo(d16, dy), d16, row.dy + x);
    const auto m = l2 ? hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy)) : hn::Add(hn::Abs(dx), hn::Abs(dy));
    hn::StoreU(m, d32, row.magnitude + x);
  }
  for (; x < row.width; ++x) {
    int dx = 0, dy = 0;
    for (int k = -R; k <= R; ++k)
      dx += canny_derive<A>(k) * smooth[x + k], dy += canny_smooth<A>(k) * derive[x + k];
    dx = canny_scale<A>(dx), dy = canny_scale<A>(dy);
    row.dx[x] = static_cast<int16_t>(dx), row.dy[x] = static_cast<int16_t>(dy);
    row.magnitude[x] = canny_magnitude(dx, dy, l2);
  }
}

void canny_gradient_any(const CannyGradientRow& row, const CannyBlock& block) {
  if (block.aperture == 3) canny_gradient<3>(row, block.l2);
  if (block.aperture == 5) canny_gradient<5>(row, block.l2);
  if (block.aperture == 7) canny_gradient<7>(row, block.l2);
}

void canny_suppress(const int32_t* above, const int32_t* at, const int32_t* below, const int16_t* dx,
                    const int16_t* dy, uint8_t* map, int width, const CannyBlock& block) {
  int x = 0;
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<int16_t, decltype(d32)> d16;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  const auto low = hn::Set(d32, block.low), high = hn::Set(d32, block.high);
  const auto one = hn::Set(d32, 1);
  for (; x + lanes <= width; x += lanes) {
    const auto m = hn::LoadU(d32, at + x);
    const auto above_low = hn::Gt(m, low);
    if (hn::AllFalse(d32, above_low)) {
      hn::StoreU(hn::Zero(d8), d8, map + x);
      continue;
    }
    const auto gx = hn::PromoteTo(d32, hn::LoadU(d16, dx + x)),
               gy = hn::PromoteTo(d32, hn::LoadU(d16, dy + x));
    const auto ax = hn::Abs(gx), ay = hn::ShiftLeft<15>(hn::Abs(gy));
    const auto tan22 = hn::Mul(ax, hn::Set(d32, 13573)), tan67 = hn::Add(tan22, hn::ShiftLeft<16>(ax));
    const auto across = hn::Lt(ay, tan22), down = hn::Gt(ay, tan67);
    const auto rising = hn::Lt(hn::Xor(gx, gy), hn::Zero(d32));
    const auto load = [&](const int32_t* row, int offset) { return hn::LoadU(d32, row + x + offset); };
    // The first neighbour must be smaller; the second may be equal, except on diagonals.
    const auto diagonal_first = hn::IfThenElse(rising, load(above, 1), load(above, -1));
    const auto diagonal_second = hn::IfThenElse(rising, load(below, -1), load(below, 1));
    const auto first =
        hn::IfThenElse(across, load(at, -1), hn::IfThenElse(down, load(above, 0), diagonal_first));
    const auto second = hn::IfThenElse(across, hn::Sub(load(at, 1), one),
                                       hn::IfThenElse(down, hn::Sub(load(below, 0), one), diagonal_second));
    const auto peak = hn::And(hn::And(hn::Gt(m, first), hn::Gt(m, second)), above_low);
    const auto value = hn::IfThenElse(hn::Gt(m, high), hn::Set(d32, 2), one);
    hn::StoreU(hn::DemoteTo(d8, hn::IfThenElseZero(peak, value)), d8, map + x);
  }
  for (; x < width; ++x)
    map[x] =
        static_cast<uint8_t>(canny_class(above + x, at + x, below + x, dx[x], dy[x], block.low, block.high));
}

void canny_output(const uint8_t* map, const uint8_t* in, uint8_t* out, int width, CannyOutput output) {
  const bool overlay = output == CannyOutput::overlay;
  int x = 0;
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint16_t, decltype(d8)> d16;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  for (; x + lanes <= width; x += lanes) {
    const auto edge = hn::VecFromMask(d8, hn::Eq(hn::LoadU(d8, map + x), hn::Set(d8, 2)));
    auto under = hn::Zero(d8);
    if (overlay)
      under = hn::And(hn::BitCast(d8, hn::ShiftRight<1>(hn::BitCast(d16, hn::LoadU(d8, in + x)))),
                      hn::Set(d8, 127));
    hn::StoreU(hn::Or(edge, under), d8, out + x);
  }
  for (; x < width; ++x) out[x] = static_cast<uint8_t>(map[x] == 2 ? 255 : overlay ? in[x] / 2 : 0);
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(canny_gradient_any);
HWY_EXPORT(canny_suppress);
HWY_EXPORT(canny_output);

void canny_gradient_row(const CannyGradientRow& row, const CannyBlock& block) {
  HWY_DYNAMIC_DISPATCH(canny_gradient_any)(row, block);
}
void canny_suppress_row(const int32_t* above, const int32_t* at, const int32_t* below, const int16_t* dx,
                        const int16_t* dy, uint8_t* map, int width, const CannyBlock& block) {
  HWY_DYNAMIC_DISPATCH(canny_suppress)(above, at, below, dx, dy, map, width, block);
}
void canny_output_row(const uint8_t* map, const uint8_t* in, uint8_t* out, int width, CannyOutput output) {
  HWY_DYNAMIC_DISPATCH(canny_output)(map, in, out, width, output);
}

}  // namespace lensd
#endif
