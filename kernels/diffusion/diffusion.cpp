#include "kernels/diffusion/diffusion.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/common/border/border_simd.hpp"
#include "kernels/common/keep_alpha.hpp"
#include "kernels/common/samples.hpp"
#include "kernels/diffusion/diffusion_iteration.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/diffusion/diffusion.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Computes out[i] = diffusion_flow(a[i], b[i]).
void diffusion_flows(const uint16_t* a, const uint16_t* b, int32_t* out, size_t n,
                     const DiffusionBlock& block) {
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<uint16_t, decltype(d32)> d16;
  const hn::Rebind<float, decltype(d32)> df;
  const size_t lanes = hn::Lanes(d32);
  const auto lambda = hn::Set(df, block.lambda), inverse = hn::Set(df, block.inverse_kappa),
             one = hn::Set(df, 1.0f);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto d = hn::ConvertTo(
        df, hn::Sub(hn::PromoteTo(d32, hn::LoadU(d16, b + i)), hn::PromoteTo(d32, hn::LoadU(d16, a + i))));
    const auto q = hn::Mul(d, inverse);
    const auto conduction = hn::Div(lambda, hn::Add(one, hn::Mul(q, q)));
    hn::StoreU(hn::NearestInt(hn::Mul(conduction, d)), d32, out + i);
  }
  for (; i < n; ++i) out[i] = diffusion_flow(a[i], b[i], block.lambda, block.inverse_kappa);
}

/// Computes the new states; implements `add` of diffusion_iteration.hpp.
void diffusion_add(const uint16_t* at, const int32_t* left, const int32_t* right, const int32_t* up,
                   const int32_t* down, uint16_t* out, size_t n) {
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<uint16_t, decltype(d32)> d16;
  const size_t lanes = hn::Lanes(d32);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto flow = hn::Add(hn::Sub(hn::LoadU(d32, right + i), hn::LoadU(d32, left + i)),
                              hn::Sub(hn::LoadU(d32, down + i), hn::LoadU(d32, up + i)));
    const auto state = hn::Add(hn::PromoteTo(d32, hn::LoadU(d16, at + i)), flow);
    hn::StoreU(hn::DemoteTo(d16, hn::Min(hn::Max(state, hn::Zero(d32)), hn::Set(d32, 65280))), d16, out + i);
  }
  for (; i < n; ++i)
    out[i] = static_cast<uint16_t>(diffusion_clamp(at[i] + right[i] - left[i] + down[i] - up[i]));
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(diffusion_flows);
HWY_EXPORT(diffusion_add);

namespace {

/// The `Depth` of diffusion_iteration.hpp for 8-bit images.
struct ByteDiffusion {
  using Sample = uint8_t;
  using State = uint16_t;
  using Flow = int32_t;
  const DiffusionBlock& block;

  static void load(const uint8_t* in, uint16_t* states, size_t n) {
    std::transform(in, in + n, states, diffusion_state);
  }
  void flows(const uint16_t* a, const uint16_t* b, int32_t* out, size_t n) const {
    HWY_DYNAMIC_DISPATCH(diffusion_flows)(a, b, out, n, block);
  }
  static void add(const uint16_t* at, const int32_t* left, const int32_t* right, const int32_t* up,
                  const int32_t* down, uint16_t* out, size_t n) {
    HWY_DYNAMIC_DISPATCH(diffusion_add)(at, left, right, up, down, out, n);
  }
  static void store(const uint16_t* states, const uint8_t* in, uint8_t* out, size_t n, int channels) {
    std::transform(states, states + n, out, diffusion_value);
    if (channels == 4) keep_alpha(in, out, n);
  }
};

}  // namespace

FilterSchema Diffusion::make_schema() {
  Schema<DiffusionParams> schema("diffusion",
                                 "anisotropic diffusion: smooths within regions, keeps their edges");
  schema
      .integer("iterations", &DiffusionParams::iterations, 1, kDiffusionMaxIterations, "number of steps",
               {.change = ParamChange::reconfigure})
      .real("lambda", &DiffusionParams::lambda, 0, 0.25, "step size; stable up to 0.25")
      .real("kappa", &DiffusionParams::kappa, 1, kDiffusionMaxKappa,
            "differences above this are edges; at the maximum nothing is an edge",
            {.widget = Widget::log_slider});
  return add_border(schema, &DiffusionParams::border).build();
}

Layout Diffusion::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const auto rows = static_cast<size_t>(format.extent.height);
  const double values = static_cast<double>(format.row_samples()) * format.extent.height;
  iterations_ = params_.iterations;
  Layout layout{.output = format, .passes = {}, .scratch_bytes = {}};
  if (inputs.backend == Backend::cpu) {
    for (int i = 0; i < iterations_; ++i)
      layout.passes.push_back({.name = "iteration",
                               .run = sample_bytes(format.format) == 2 ? cpu_pass<&Diffusion::iterate_deep>
                                                                       : cpu_pass<&Diffusion::iterate>,
                               .step = i,
                               .items = format.extent.height,
                               .grain = 16,
                               .bytes = 4.0 * sample_bytes(format.format) * values,
                               .operations = 20 * values});
    layout.scratch_bytes.assign(iterations_ > 1 ? 2 : 0,
                                state_pitch(format.row_samples(), format.format) * rows);
    layout.worker_bytes = sample_bytes(format.format) == 2 ? deep_worker_bytes(format)
                                                           : DiffusionWorker<ByteDiffusion>::bytes(format);
  } else {
    for (int i = 0; i < iterations_; i += kDiffusionFused)
      layout.passes.push_back({.name = "iterations",
                               .launch = cuda_pass<&Diffusion::launch_iterations>,
                               .step = i,
                               .bytes = 4.0 * sample_bytes(format.format) * values,
                               .operations = 20.0 * kDiffusionFused * values});
    const auto planes = static_cast<size_t>(colour_channels(format.format));
    layout.scratch_bytes.assign(
        layout.passes.size() > 1 ? 2 : 0,
        state_pitch(static_cast<size_t>(format.extent.width), format.format) * rows * planes);
  }
  return layout;
}

void Diffusion::iterate(const PassArgs& args, Band band) const {
  const DiffusionBlock& block = block_of(args);
  const ImageFormat& format = args.in[0].format;
  diffusion_iteration(ByteDiffusion{block}, args, band, block.border,
                      state_pitch(format.row_samples(), format.format), args.step + 1 == iterations_);
}

void Diffusion::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const DiffusionBlock b = DiffusionBlock::make(params_);
  const float inverse_kappa = in.is_deep() ? b.deep_inverse_kappa : b.inverse_kappa;
  const int w = in.width(), h = in.height(), most = 256 * max_sample(in.format.format);
  run.out = in;
  for (int c = 0; c < colour_channels(in.format.format); ++c) {
    std::vector<int> states(static_cast<size_t>(w * h)), next(states.size());
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) states[static_cast<size_t>(y * w + x)] = 256 * in.sample(x, y, c);
    const auto at = [&](int x, int y) {
      const int sx = border_index(x, w, b.border), sy = border_index(y, h, b.border);
      return sx < 0 || sy < 0 ? 0 : states[static_cast<size_t>(sy * w + sx)];
    };
    for (int i = 0; i < params_.iterations; ++i) {
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
          int state = at(x, y);
          for (const auto& [dx, dy] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}})
            state += diffusion_flow(at(x, y), at(x + dx, y + dy), b.lambda, inverse_kappa);
          next[static_cast<size_t>(y * w + x)] = std::clamp(state, 0, most);
        }
      states.swap(next);
    }
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        run.out.set_sample(x, y, c, (states[static_cast<size_t>(y * w + x)] + 128) >> 8);
  }
}

}  // namespace lensd
#endif
