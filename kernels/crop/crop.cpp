#include "kernels/crop/crop.hpp"

#include "kernels/common/copy_rows.hpp"

namespace lensd {

FilterSchema Crop::make_schema() {
  const Schema<CropParams>::Options pixels{.unit = "px", .change = ParamChange::reconfigure};
  Schema<CropParams>::Options size = pixels;
  size.zero = "to the edge";
  return Schema<CropParams>("crop", "cuts out a rectangle of the picture")
      .integer("x", &CropParams::x, 0, kMaxSide - 1, "left column of the rectangle", pixels)
      .integer("y", &CropParams::y, 0, kMaxSide - 1, "top row of the rectangle", pixels)
      .integer("width", &CropParams::width, 0, kMaxSide, "width, 0 = up to the right edge", size)
      .integer("height", &CropParams::height, 0, kMaxSide, "height, 0 = up to the bottom edge", size)
      .build();
}

Layout Crop::configure(const FilterInputs& inputs) {
  rect_ = CropRect::make(params_, inputs.images[0].extent);
  return single_pass({inputs.images[0].format, rect_.extent}, cost);
}

void Crop::apply(const PassArgs& args, Band band) const {
  copy_rows(args.in[0], args.out, band, rect_.x, rect_.y);
}

#if LENSD_CUDA
void Crop::launch_apply(const PassArgs& args, CudaStream stream) const {
  launch_copy(args.in[0], args.out, stream, rect_.x, rect_.y);
}
#endif

void Crop::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const CropRect rect = CropRect::make(params_, in.format.extent);
  run.out = Image({in.format.format, rect.extent});
  for_each_sample(rect.extent, in.channels(), [&](int x, int y, int c) {
    run.out.set_sample(x, y, c, in.sample(rect.x + x, rect.y + y, c));
  });
}

}  // namespace lensd
