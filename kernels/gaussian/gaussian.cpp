#include "kernels/gaussian/gaussian.hpp"

#include "kernels/common/border/border.hpp"
#include "kernels/gaussian/deep_gaussian.hpp"
#include "kernels/gaussian/gaussian_simd.hpp"

namespace lensd {

FilterSchema Gaussian::make_schema() {
  Schema<GaussianParams> schema("gaussian", "Gaussian blur");
  schema
      .real("sigma", &GaussianParams::sigma, 0.1, 20, "standard deviation",
            {.unit = "px", .widget = Widget::log_slider})
      .integer("radius", &GaussianParams::radius, 0, kGaussianMaxRadius,
               "radius of the window; 0: three sigma, rounded up, at most 31",
               {.unit = "px", .zero = "from sigma"});
  return add_border(schema, &GaussianParams::border).build();
}

Layout Gaussian::configure(const FilterInputs& inputs) {
#if LENSD_CUDA
  if (inputs.backend == Backend::cuda) prepare_kernels();
#endif
  const int r = params_.effective_radius();
  const double colours = is_gray(inputs.images[0].format) ? 1 : 0.75;
  Layout layout = single_pass(inputs.images[0], {.operations = colours * 2 * (2 * r + 1)});
  // A band also computes the horizontal sums of 2r rows outside it. Bands of at least 4r rows limit that
  // cost.
  layout.passes[0].grain = std::max(16, 4 * r);
  const bool deep = sample_bytes(inputs.images[0].format) == 2;
  layout.worker_bytes = deep ? sizeof(DeepGaussianScratch) : sizeof(GaussianScratch);
  return layout;
}

void Gaussian::apply(const PassArgs& args, Band band) const {
  (args.in[0].is_deep() ? deep_gaussian_band : gaussian_band)(args.in[0], args.out, band, block_of(args),
                                                              args.worker);
}

namespace {

void deep_reference(const GaussianBlock& block, ReferenceRun& run) {
  const Image& in = run.in[0];
  run.out = in;
  std::vector<float> across(static_cast<size_t>(in.width()) * static_cast<size_t>(in.height()));
  const auto index = [&](int x, int y) {
    return static_cast<size_t>(y) * static_cast<size_t>(in.width()) + static_cast<size_t>(x);
  };
  for (int c = 0; c < colour_channels(in.format.format); ++c) {
    for_each_sample(in.format.extent, 1, [&](int x, int y, int) {
      across[index(x, y)] = deep_gaussian_sum(block.weights, block.radius, [&](int k) {
        const int at = border_index(x + k, in.width(), block.border);
        return at < 0 ? 0.f : static_cast<float>(in.sample(at, y, c));
      });
    });
    for_each_sample(in.format.extent, 1, [&](int x, int y, int) {
      run.out.set_sample(x, y, c,
                         deep_gaussian_value(deep_gaussian_sum(block.weights, block.radius, [&](int k) {
                           const int at = border_index(y + k, in.height(), block.border);
                           return at < 0 ? 0.f : across[index(x, at)];
                         })));
    });
  }
}

}  // namespace

void Gaussian::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  if (in.is_deep()) return deep_reference(GaussianBlock::make(params_), run);
  const GaussianBlock block = GaussianBlock::make(params_);
  const int r = block.radius;
  run.out = Image(in.format);
  std::vector<uint32_t> between(in.pixels.size());
  const auto index = [&](int x, int y, int c) {
    return static_cast<size_t>((y * in.width() + x) * in.channels() + c);
  };
  // Returns Σ tap · sample(position) along an axis of `n` positions.
  const auto sum = [&](int centre, int n, const auto& sample) {
    uint32_t total = 0;
    for (int i = 0; i <= 2 * r; ++i)
      if (const int at = border_index(centre + i - r, n, block.border); at >= 0)
        total += static_cast<uint32_t>(block.tap(i)) * sample(at);
    return total;
  };
  for_each_sample(in.format.extent, in.channels(), [&](int x, int y, int c) {
    between[index(x, y, c)] =
        gaussian_between(sum(x, in.width(), [&](int at) { return uint32_t{in.at(at, y, c)}; }));
  });
  for_each_sample(in.format.extent, in.channels(), [&](int x, int y, int c) {
    const uint32_t down = sum(y, in.height(), [&](int at) { return between[index(x, at, c)]; });
    run.out.at(x, y, c) = c == 3 ? in.at(x, y, c) : static_cast<uint8_t>(gaussian_final(down));
  });
}

}  // namespace lensd
