#include "kernels/unsharp/unsharp.hpp"

#include <cstddef>

#include "kernels/common/border/border.hpp"
#include "kernels/common/vectorised.hpp"
#include "kernels/gaussian/deep_gaussian.hpp"
#include "kernels/gaussian/gaussian_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/unsharp/unsharp.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sharpens a row in place: `out` holds the blurred row and receives the sharpened one. Alpha is equal in
/// both rows and does not change.
void unsharp_row(const uint8_t* in, uint8_t* out, size_t n, int amount, int threshold) {
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  const size_t lanes = hn::Lanes(d32);
  const auto gain = hn::Set(d32, amount), least = hn::Set(d32, threshold), round = hn::Set(d32, 128);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::PromoteTo(d32, hn::LoadU(d8, in + i));
    const auto d = hn::Sub(v, hn::PromoteTo(d32, hn::LoadU(d8, out + i)));
    const auto more = hn::ShiftRight<8>(hn::Add(hn::Mul(gain, d), round));
    hn::StoreU(hn::DemoteTo(d8, hn::Add(v, hn::IfThenElseZero(hn::Gt(hn::Abs(d), least), more))), d8,
               out + i);
  }
  for (; i < n; ++i) out[i] = unsharp_value(in[i], out[i], amount, threshold);
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(unsharp_row);

static_assert(offsetof(UnsharpBlock, blur) == 0);

FilterSchema Unsharp::make_schema() {
  Schema<UnsharpParams> schema("unsharp", "sharpens by adding the detail that a Gaussian blur removes");
  schema
      .real("sigma", &UnsharpParams::sigma, 0.1, 20, "standard deviation of the blur",
            {.unit = "px", .widget = Widget::log_slider})
      .real("amount", &UnsharpParams::amount, 0, 10, "how much of the difference is added")
      .real("threshold", &UnsharpParams::threshold, 0, 255,
            "smaller differences are not amplified, against noise");
  return add_border(schema, &UnsharpParams::border).build();
}

Layout Unsharp::configure(const FilterInputs& inputs) {
  Gaussian blur;
  *static_cast<GaussianParams*>(blur.params()) = params_.blur();
  Layout layout = blur.configure(inputs);
  const double values = static_cast<double>(layout.output.row_bytes()) * layout.output.extent.height;
  PassSpec& pass = layout.passes.back();
  pass.name = "unsharp";
  pass.run = cpu_pass<&Unsharp::apply>, pass.launch = cuda_pass<&Unsharp::launch_apply>;
  pass.operations += 6 * values;
#if LENSD_CUDA
  if (inputs.backend == Backend::cuda) prepare_unsharp_kernels();
#endif
  return layout;
}

void Unsharp::apply_deep(const PassArgs& args, Band band) const {
  const UnsharpBlock block = block_of(args);
  deep_gaussian_band(args.in[0], args.out, band, block.blur, args.worker);
  vectorised([&block, &args, band, n = static_cast<int>(args.out.format.row_samples())] {
    for (int y = band.begin; y < band.end; ++y) {
      const uint16_t* const in = args.in[0].samples<uint16_t>(y);
      uint16_t* const out = args.out.samples<uint16_t>(y);  // blurred; alpha is equal in both rows
#pragma GCC ivdep
      for (int i = 0; i < n; ++i)
        out[i] = static_cast<uint16_t>(deep_unsharp_value(in[i], out[i], block.amount, block.deep_threshold));
    }
  });
}

void Unsharp::apply(const PassArgs& args, Band band) const {
  if (args.in[0].is_deep()) return apply_deep(args, band);
  const UnsharpBlock& block = block_of(args);
  gaussian_band(args.in[0], args.out, band, block.blur, args.worker);
  const auto row = HWY_DYNAMIC_DISPATCH(unsharp_row);
  for (int y = band.begin; y < band.end; ++y)
    row(args.in[0].row(y), args.out.row(y), args.out.row_bytes(), block.amount, block.threshold);
}

void Unsharp::reference(ReferenceRun& run) const {
  Gaussian blur;
  *static_cast<GaussianParams*>(blur.params()) = params_.blur();
  blur.reference(run);
  const UnsharpBlock block = UnsharpBlock::make(params_);
  const Image& in = run.in[0];
  for_each_sample(in.format.extent, colour_channels(in.format.format), [&](int x, int y, int c) {
    const int v = in.sample(x, y, c), blurred = run.out.sample(x, y, c);
    run.out.set_sample(x, y, c,
                       in.is_deep() ? deep_unsharp_value(v, blurred, block.amount, block.deep_threshold)
                                    : unsharp_value(v, blurred, block.amount, block.threshold));
  });
}

}  // namespace lensd
#endif
