// resize: another size by interpolation or exact means.
//
// Size: `width` and `height`; where one is 0 it follows from the other and the picture's aspect; where both
// are 0, `scale` counts. At most 16384 a side.
//
// Positions: pixel centres at half-integers, as cv::resize, source = (i + 0.5) · N / M − 0.5; with
// align_corners source = i · (N − 1) / (M − 1). `nearest` is floor(i · N / M) as INTER_NEAREST. Beyond the
// edge stands the edge's sample. bilinear, bicubic (a = −0.75) and lanczos3 (6 taps, normalised) interpolate
// and do not smooth before shrinking, as OpenCV; `area` is the exact rounded mean over the pixel's footprint
// in both directions and has no use for align_corners. OpenCV's INTER_AREA agrees, but for pictures that
// shrink in one direction and grow in the other, where it interpolates, and for single samples of growing
// ones, where i · N / M is whole and its rounding takes the neighbour.
//
// Formats: Gray8, RGBA8 (alpha is resized like a colour). Temporal reach: none. Exactness: weights of 14
// bits, rows of 6 fractional bits; within ±1 of double precision; within ±1 of cv::resize.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/resize/resize_math.hpp"

namespace lensd {

class Resize final : public FilterBase<Resize, ResizeParams, ResizeBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;

 private:
  ResizeTable table_x(const PassArgs& args) const;
  ResizeTable table_y(const PassArgs& args) const;
  bool fills_taps(const PassArgs& args) const;

  ResizeGeometry geometry_;  ///< as planned
};

#if LENSD_CUDA
/// The paths `area` and `half`.
void launch_means(const ResizeGeometry& geometry, const ConstImageRef& in, const ImageRef& out,
                  CudaStream stream);
#endif

}  // namespace lensd
