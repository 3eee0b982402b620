#include "kernels/sobel/sobel.hpp"

#include "kernels/common/row_ring.hpp"
#include "kernels/common/vectorised.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sobel/sobel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Computes sobel_magnitude() in 32-bit lanes.
template <class D32, class V = hn::Vec<D32>>
HWY_INLINE V sobel_magnitude_lanes(D32 d32, V dx, V dy) {
  const hn::Rebind<float, D32> df;
  const auto square = hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy));
  const auto root = hn::Add(hn::Sqrt(hn::ConvertTo(df, square)), hn::Set(df, 0.5f));
  return hn::ConvertTo(d32, hn::Min(root, hn::Set(df, 255.0f)));
}

/// Computes sobel_direction() in 32-bit lanes.
template <class D32, class V = hn::Vec<D32>>
HWY_INLINE V sobel_direction_lanes(D32 d32, V dx, V dy) {
  const hn::Rebind<float, D32> df;
  const auto zero = hn::Zero(d32);
  const auto ax = hn::Abs(dx), ay = hn::Abs(dy);
  const auto t = hn::Div(hn::ConvertTo(df, hn::Min(ax, ay)),
                         hn::ConvertTo(df, hn::Max(hn::Max(ax, ay), hn::Set(d32, 1))));
  const auto s = hn::Mul(t, t);
  auto p = hn::Set(df, kSobelAtan4);
  for (const float term : {kSobelAtan3, kSobelAtan2, kSobelAtan1, kSobelAtan0})
    p = hn::Add(hn::Mul(p, s), hn::Set(df, term));
  auto a = hn::Mul(p, t);
  const auto turn = [&](auto when, float from) {
    a = hn::IfThenElse(hn::RebindMask(df, when), hn::Sub(hn::Set(df, from), a), a);
  };
  turn(hn::Gt(ay, ax), 64.0f);
  turn(hn::Lt(dx, zero), 128.0f);
  turn(hn::Lt(dy, zero), 256.0f);
  return hn::And(hn::ConvertTo(d32, hn::Add(a, hn::Set(df, 0.5f))), hn::Set(d32, 255));
}

/// Computes an output row from the input rows `above`, `at` and `below` it. Each input row has one pixel of
/// border at both ends.
void sobel_row(const uint8_t* above, const uint8_t* at, const uint8_t* below, uint8_t* out, int width,
               SobelOutput output) {
  int x = 0;
  const hn::ScalableTag<int16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const auto load = [&](const uint8_t* row, int dx) {
    return hn::PromoteTo(d16, hn::LoadU(d8, row + x + dx));
  };
  const auto weigh = [](auto a, auto b, auto c) { return hn::Add(hn::Add(a, c), hn::Add(b, b)); };
  for (; x + lanes <= width; x += lanes) {
    const auto a = load(above, -1), c = load(above, 1), g = load(below, -1), i = load(below, 1);
    const auto dx = hn::Sub(weigh(c, load(at, 1), i), weigh(a, load(at, -1), g));
    const auto dy = hn::Sub(weigh(g, load(below, 0), i), weigh(a, load(above, 0), c));
    if (output == SobelOutput::x || output == SobelOutput::y) {
      hn::StoreU(hn::DemoteTo(d8, hn::Abs(output == SobelOutput::x ? dx : dy)), d8, out + x);
      continue;
    }
    const hn::Half<decltype(d16)> half;
    const auto value = [&](auto dx_half, auto dy_half) {
      const auto wide_x = hn::PromoteTo(d32, dx_half), wide_y = hn::PromoteTo(d32, dy_half);
      return output == SobelOutput::magnitude ? sobel_magnitude_lanes(d32, wide_x, wide_y)
                                              : sobel_direction_lanes(d32, wide_x, wide_y);
    };
    const hn::Rebind<uint8_t, decltype(d32)> d8_half;
    hn::StoreU(hn::DemoteTo(d8_half, value(hn::LowerHalf(half, dx), hn::LowerHalf(half, dy))), d8_half,
               out + x);
    hn::StoreU(hn::DemoteTo(d8_half, value(hn::UpperHalf(half, dx), hn::UpperHalf(half, dy))), d8_half,
               out + x + lanes / 2);
  }
  for (; x < width; ++x) {
    const int dx = above[x + 1] + 2 * at[x + 1] + below[x + 1] - above[x - 1] - 2 * at[x - 1] - below[x - 1];
    const int dy = below[x - 1] + 2 * below[x] + below[x + 1] - above[x - 1] - 2 * above[x] - above[x + 1];
    out[x] = sobel_value(output, dx, dy);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(sobel_row);

FilterSchema Sobel::make_schema() {
  Schema<SobelParams> schema(
      "sobel", "edges as first derivatives (3×3): their magnitude, one of them, or their direction");
  schema.choice("output", &SobelParams::output, {"magnitude", "x", "y", "direction"}, "quantity to output");
  return add_border(schema, &SobelParams::border).build();
}

Layout Sobel::configure(const FilterInputs& inputs) {
  Layout layout = single_pass(inputs.images[0], cost);
  layout.worker_bytes = RowRing::bytes(layout.output, 1);
  return layout;
}

/// Computes an output row of a 16-bit image like sobel_row().
template <SobelOutput kOutput>
void deep_sobel_row(const uint16_t* above, const uint16_t* at, const uint16_t* below, uint16_t* out,
                    int width) {
  vectorised([=] {
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      const int dx =
          above[x + 1] + 2 * at[x + 1] + below[x + 1] - above[x - 1] - 2 * at[x - 1] - below[x - 1];
      const int dy = below[x - 1] + 2 * below[x] + below[x + 1] - above[x - 1] - 2 * above[x] - above[x + 1];
      out[x] = deep_sobel_value(kOutput, dx, dy);
    }
  });
}

void Sobel::apply_deep(const PassArgs& args, Band band) const {
  RowRing rows(args.in[0], 1, block_of(args).border, args.worker);
  for (int y = band.begin; y < band.end; ++y) {
    rows.move_to(y);
    const auto row = [&](int dy) { return reinterpret_cast<const uint16_t*>(rows.row(dy)); };
    const uint16_t *above = row(-1), *at = row(0), *below = row(1);
    uint16_t* const out = args.out.samples<uint16_t>(y);
    const int width = args.out.width();
    switch (block_of(args).output) {
      case SobelOutput::magnitude:
        deep_sobel_row<SobelOutput::magnitude>(above, at, below, out, width);
        break;
      case SobelOutput::x:
        deep_sobel_row<SobelOutput::x>(above, at, below, out, width);
        break;
      case SobelOutput::y:
        deep_sobel_row<SobelOutput::y>(above, at, below, out, width);
        break;
      case SobelOutput::direction:
        deep_sobel_row<SobelOutput::direction>(above, at, below, out, width);
        break;
    }
  }
}

void Sobel::apply(const PassArgs& args, Band band) const {
  if (args.in[0].is_deep()) return apply_deep(args, band);
  const SobelBlock& block = block_of(args);
  const auto row = HWY_DYNAMIC_DISPATCH(sobel_row);
  RowRing rows(args.in[0], 1, block.border, args.worker);
  for (int y = band.begin; y < band.end; ++y) {
    rows.move_to(y);
    row(rows.row(-1), rows.row(0), rows.row(1), args.out.row(y), args.out.width(), block.output);
  }
}

void Sobel::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  run.out = Image(in.format);
  const auto at = [&](int x, int y) {
    const int sx = border_index(x, in.width(), params_.border),
              sy = border_index(y, in.height(), params_.border);
    return sx < 0 || sy < 0 ? 0 : in.sample(sx, sy);
  };
  for_each_sample(in.format.extent, 1, [&](int x, int y, int) {
    int dx = 0, dy = 0;
    for (int i = -1; i <= 1; ++i) {
      dx += (2 - i * i) * (at(x + 1, y + i) - at(x - 1, y + i));
      dy += (2 - i * i) * (at(x + i, y + 1) - at(x + i, y - 1));
    }
    run.out.set_sample(
        x, y, 0,
        in.is_deep() ? deep_sobel_value(params_.output, dx, dy) : sobel_value(params_.output, dx, dy));
  });
}

}  // namespace lensd
#endif
