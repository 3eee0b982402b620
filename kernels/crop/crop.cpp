#include "kernels/crop/crop.hpp"

#include <cstring>

namespace lensd {

FilterSchema Crop::make_schema() {
  const Schema<CropParams>::Options pixels{.unit = "px", .change = ParamChange::reconfigure};
  Schema<CropParams>::Options size = pixels;
  size.zero = "to the edge";
  return Schema<CropParams>("crop", "a rectangle of the picture")
      .integer("x", &CropParams::x, 0, kMaxSide - 1, "left column of the rectangle", pixels)
      .integer("y", &CropParams::y, 0, kMaxSide - 1, "top row of the rectangle", pixels)
      .integer("width", &CropParams::width, 0, kMaxSide, "width, 0 = up to the right edge", size)
      .integer("height", &CropParams::height, 0, kMaxSide, "height, 0 = up to the bottom edge", size)
      .build();
}

Layout Crop::configure(const FilterInputs& inputs) {
  rect_ = CropRect::make(params_, inputs.images[0].extent);
  const ImageFormat output{inputs.images[0].format, rect_.extent};
  return {.output = output,
          .passes = {{.name = "crop",
                      .items = output.extent.height,
                      .grain = 8,
                      .bytes = 2.0 * static_cast<double>(output.row_bytes()) * output.extent.height}},
          .scratch_bytes = {}};
}

void Crop::run(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  const size_t left = static_cast<size_t>(rect_.x) * static_cast<size_t>(in.channels());
  for (int y = band.begin; y < band.end; ++y)
    std::memcpy(args.out.row(y), in.row(rect_.y + y) + left, args.out.row_bytes());
}

void Crop::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const CropRect rect = CropRect::make(params_, in.format.extent);
  run.out = Image({in.format.format, rect.extent});
  for (int y = 0; y < rect.extent.height; ++y)
    for (int x = 0; x < rect.extent.width; ++x)
      for (int c = 0; c < in.channels(); ++c) run.out.at(x, y, c) = in.at(rect.x + x, rect.y + y, c);
}

}  // namespace lensd
