#include "kernels/grayscale/grayscale.hpp"

#include <cstring>

#include "kernels/grayscale/luma.hpp"

namespace lensd {

FilterSchema Grayscale::make_schema() {
  return Schema<GrayscaleParams>("grayscale", "one grey channel from red, green and blue")
      .choice("weights", &GrayscaleParams::weights, {"bt601", "bt709", "average"},
              "how much each colour counts: television (bt601), high definition (bt709) or all alike")
      .build();
}

Layout Grayscale::configure(const FilterInputs& inputs) {
  const ImageFormat format{PixelFormat::gray8, inputs.images[0].extent};
  const double pixels = static_cast<double>(format.extent.width) * format.extent.height;
  const int in_channels = channels(inputs.images[0].format);
  return {.output = format,
          .passes = {{.name = "grayscale",
                      .items = format.extent.height,
                      .grain = 8,
                      .bytes = pixels * (in_channels + 1),
                      .operations = in_channels == 4 ? pixels * 7 : pixels}},
          .scratch_bytes = {}};
}

void Grayscale::run(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  if (in.format.format == PixelFormat::rgba8) return luma_rows(in, args.out, band, block_of(args));
  for (int y = band.begin; y < band.end; ++y) std::memcpy(args.out.row(y), in.row(y), in.row_bytes());
}

#if LENSD_CUDA
void Grayscale::launch(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  if (in.format.format == PixelFormat::rgba8) return launch_luma(in, args.out, &block_of(args), stream);
  launch_copy(in, args.out, stream);
}
#endif

void Grayscale::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  run.out = in.format.format == PixelFormat::rgba8 ? luma_reference(in, LumaBlock::make(params_)) : in;
}

}  // namespace lensd
