#include "kernels/bilateral/bilateral.hpp"

#include <algorithm>

#include "kernels/common/row_ring.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bilateral/bilateral.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// bilateral_mean of lanes: a quotient from single precision, at most one off, put right by its remainder.
template <class D32, class V = hn::Vec<D32>>
HWY_INLINE V bilateral_mean_lanes(D32 d32, V sum, V weights) {
  const hn::RebindToUnsigned<D32> du;
  const hn::Rebind<float, D32> df;
  const auto half = [&](V v) {
    return hn::BitCast(d32, hn::ShiftRight<1>(hn::BitCast(du, v)));
  };  // as unsigned
  const auto rounded = hn::Add(sum, half(weights));
  auto q = hn::ConvertTo(d32, hn::Div(hn::ConvertTo(df, half(rounded)), hn::ConvertTo(df, half(weights))));
  const auto one = hn::Set(d32, 1);
  const auto rest = hn::Sub(rounded, hn::Mul(q, weights));  // modulo 2^32; its true value fits
  q = hn::IfThenElse(hn::Lt(rest, hn::Zero(d32)), hn::Sub(q, one), q);
  return hn::IfThenElse(hn::Gt(rest, hn::Sub(weights, one)), hn::Add(q, one), q);
}

/// `n` bytes of a row. taps[t] points at the neighbour of byte 0. Rows may be read a vector beyond.
void bilateral_row(const uint8_t* centre, const uint8_t* const* taps, const BilateralBlock& block,
                   uint8_t* out, size_t n) {
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  const size_t lanes = hn::Lanes(d32);
  const auto round = hn::Set(d32, 256);
  for (size_t i = 0; i < n; i += 2 * lanes) {
    const auto load = [&](const uint8_t* row, size_t k) {
      return hn::PromoteTo(d32, hn::LoadU(d8, row + i + k));
    };
    const auto c0 = load(centre, 0), c1 = load(centre, lanes);
    auto sum0 = hn::Zero(d32), sum1 = sum0, weights0 = sum0, weights1 = sum0;
    for (int t = 0; t < block.taps_count; ++t) {
      const auto space = hn::Set(d32, block.taps[t].weight);
      const auto v0 = load(taps[t], 0), v1 = load(taps[t], lanes);
      const auto w0 = hn::ShiftRight<9>(
          hn::Add(hn::Mul(space, hn::GatherIndex(d32, block.colour, hn::Abs(hn::Sub(v0, c0)))), round));
      const auto w1 = hn::ShiftRight<9>(
          hn::Add(hn::Mul(space, hn::GatherIndex(d32, block.colour, hn::Abs(hn::Sub(v1, c1)))), round));
      weights0 = hn::Add(weights0, w0), weights1 = hn::Add(weights1, w1);
      sum0 = hn::Add(sum0, hn::Mul(w0, v0)), sum1 = hn::Add(sum1, hn::Mul(w1, v1));
    }
    const auto m0 = hn::DemoteTo(d8, bilateral_mean_lanes(d32, sum0, weights0));
    const auto m1 = hn::DemoteTo(d8, bilateral_mean_lanes(d32, sum1, weights1));
    if (i + 2 * lanes <= n) {
      hn::StoreU(m0, d8, out + i), hn::StoreU(m1, d8, out + i + lanes);
    } else {
      uint8_t last[128];
      hn::StoreU(m0, d8, last), hn::StoreU(m1, d8, last + lanes);
      for (size_t k = 0; i + k < n; ++k) out[i + k] = last[k];
    }
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(bilateral_row);

FilterSchema Bilateral::make_schema() {
  Schema<BilateralParams> schema("bilateral",
                                 "smooths and keeps edges: near pixels of like value count most");
  schema
      .real("sigma_space", &BilateralParams::sigma_space, 0.3, 20, "reach in space",
            {.unit = "px", .widget = Widget::log_slider})
      .real("sigma_color", &BilateralParams::sigma_color, 0.3, 255, "reach in value",
            {.widget = Widget::log_slider})
      .integer("radius", &BilateralParams::radius, 0, kBilateralMaxRadius,
               "of the disc; 0 takes 1.5 · sigma_space, at most 10", {.unit = "px", .zero = "from sigma"});
  return add_border(schema, &BilateralParams::border).build();
}

Layout Bilateral::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const double values = static_cast<double>(format.row_bytes()) * format.extent.height;
  const int r = params_.effective_radius();
  return {.output = format,
          .passes = {{.name = "bilateral",
                      .items = format.extent.height,
                      .grain = 8,
                      .bytes = 2 * values,
                      .operations = 20.0 * r * r * values}},
          .scratch_bytes = {},
          .worker_bytes = RowRing::bytes(format, kBilateralMaxRadius)};
}

void Bilateral::run(const PassArgs& args, Band band) const {
  const BilateralBlock& block = block_of(args);
  const ConstImageRef in = args.in[0];
  const int ch = in.channels();
  const auto row = HWY_DYNAMIC_DISPATCH(bilateral_row);
  RowRing rows(in, block.radius, block.border, args.worker);
  const uint8_t* taps[kBilateralMaxTaps];
  for (int y = band.begin; y < band.end; ++y) {
    rows.move_to(y);
    for (int t = 0; t < block.taps_count; ++t) taps[t] = rows.row(block.taps[t].y) + block.taps[t].x * ch;
    uint8_t* const out = args.out.row(y);
    row(rows.row(0), taps, block, out, in.row_bytes());
    if (ch == 4)
      for (size_t i = 3; i < in.row_bytes(); i += 4) out[i] = in.row(y)[i];
  }
}

void Bilateral::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const BilateralBlock b = BilateralBlock::make(params_);
  run.out = in;
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x)
      for (int c = 0; c < std::min(in.channels(), 3); ++c) {
        uint32_t sum = 0, weights = 0;
        for (int t = 0; t < b.taps_count; ++t) {
          const int sx = border_index(x + b.taps[t].x, in.width(), b.border),
                    sy = border_index(y + b.taps[t].y, in.height(), b.border);
          const int v = sx < 0 || sy < 0 ? 0 : in.at(sx, sy, c);
          const uint32_t w = bilateral_weight(b.taps[t].weight,
                                              static_cast<uint32_t>(b.colour[std::abs(v - in.at(x, y, c))]));
          weights += w, sum += w * static_cast<uint32_t>(v);
        }
        run.out.at(x, y, c) = bilateral_mean(sum, weights);
      }
}

}  // namespace lensd
#endif
