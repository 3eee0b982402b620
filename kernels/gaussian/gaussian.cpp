#include "kernels/gaussian/gaussian.hpp"

#include "kernels/common/border.hpp"
#include "kernels/gaussian/gaussian_simd.hpp"

namespace lensd {

FilterSchema Gaussian::make_schema() {
  Schema<GaussianParams> schema("gaussian", "Gaussian blur");
  schema
      .real("sigma", &GaussianParams::sigma, 0.1, 20, "standard deviation",
            {.unit = "px", .widget = Widget::log_slider})
      .integer("radius", &GaussianParams::radius, 0, kGaussianMaxRadius,
               "reach of the window; 0 takes three sigma, rounded up, at most 31",
               {.unit = "px", .zero = "from sigma"});
  return add_border(schema, &GaussianParams::border).build();
}

Layout Gaussian::configure(const FilterInputs& inputs) {
#if LENSD_CUDA
  if (inputs.backend == Backend::cuda) prepare_gaussian_kernels();
#endif
  const ImageFormat format = inputs.images[0];
  const int r = params_.effective_radius();
  const double bytes = static_cast<double>(format.row_bytes()) * format.extent.height;
  const double colours = format.format == PixelFormat::rgba8 ? 0.75 : 1;
  // A band blurs 2r rows beyond its own: bands of 4r rows and more keep that in bounds.
  return {.output = format,
          .passes = {{.name = "gaussian",
                      .items = format.extent.height,
                      .grain = std::max(16, 4 * r),
                      .bytes = 2 * bytes,
                      .operations = bytes * colours * 2 * (2 * r + 1)}},
          .scratch_bytes = {},
          .worker_bytes = gaussian_worker_bytes()};
}

void Gaussian::run(const PassArgs& args, Band band) const {
  gaussian_band(args.in[0], args.out, band, block_of(args), args.worker);
}

void Gaussian::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const GaussianBlock block = GaussianBlock::make(params_);
  const int r = block.radius;
  run.out = Image(in.format);
  std::vector<uint32_t> between(in.pixels.size());
  const auto index = [&](int x, int y, int c) {
    return (static_cast<size_t>(y) * static_cast<size_t>(in.width()) + static_cast<size_t>(x)) *
               static_cast<size_t>(in.channels()) +
           static_cast<size_t>(c);
  };
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x)
      for (int c = 0; c < in.channels(); ++c) {
        uint32_t sum = 0;
        for (int i = 0; i <= 2 * r; ++i) {
          const int xi = border_index(x + i - r, in.width(), block.border);
          if (xi >= 0) sum += static_cast<uint32_t>(block.tap(i)) * in.at(xi, y, c);
        }
        between[index(x, y, c)] = gaussian_between(sum);
      }
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x)
      for (int c = 0; c < in.channels(); ++c) {
        uint32_t sum = 0;
        for (int i = 0; i <= 2 * r; ++i) {
          const int yi = border_index(y + i - r, in.height(), block.border);
          if (yi >= 0) sum += static_cast<uint32_t>(block.tap(i)) * between[index(x, yi, c)];
        }
        run.out.at(x, y, c) = c == 3 ? in.at(x, y, c) : static_cast<uint8_t>(gaussian_final(sum));
      }
}

}  // namespace lensd
