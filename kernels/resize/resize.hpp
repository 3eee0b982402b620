// resize: changes the size by interpolation or exact means.
//
// Size: `width` and `height`. If one of them is 0, it is computed from the other one and the aspect ratio. If
// both are 0, `scale` applies. At most 16384 per side: if a computed side would be larger, both sides are
// reduced by the same factor.
//
// Positions: pixel centres at half-integers as in cv::resize, source = (i + 0.5) · N / M − 0.5; with
// align_corners source = i · (N − 1) / (M − 1). `nearest` is floor(i · N / M) as in INTER_NEAREST, or with
// align_corners the sample nearest to the position. Border rule: replicate. bilinear, bicubic (a = −0.75) and
// lanczos3 (6 taps, normalised) interpolate and, like OpenCV, do not low-pass before shrinking. `area` is the
// exact rounded mean over the pixel's footprint, for shrinking and for growing pictures; it ignores
// align_corners. It equals OpenCV's INTER_AREA with two exceptions. If the picture shrinks in one direction
// and grows in the other, OpenCV interpolates. In growing pictures, where i · N / M is an integer, OpenCV
// rounds some positions to the neighbouring sample.
//
// Formats: all (alpha is resized like a colour). Temporal reach: none. 8 bits: 14-bit weights, rows with 6
// fractional bits; within ±1 of double precision and of cv::resize. 16 bits: weights and sums in single
// precision; within 1 of double precision. Means are exact.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/resize/resize_math.hpp"

namespace lensd {

class Resize final : public FilterBase<Resize, ResizeParams, ResizeBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void reference(ReferenceRun& run) const override;

 private:
  void fill_tables(const PassArgs& args, Band band) const;
  void launch_fill_tables(const PassArgs& args, CudaStream stream) const;
  void interpolate(const PassArgs& args, Band band) const;
  void launch_interpolate(const PassArgs& args, CudaStream stream) const;
  void pick_nearest(const PassArgs& args, Band band) const;
  void average_area(const PassArgs& args, Band band) const;
  void launch_average_area(const PassArgs& args, CudaStream stream) const;
  void launch_large_area(const PassArgs& args, CudaStream stream) const;
  void halve(const PassArgs& args, Band band) const;
  void launch_halve(const PassArgs& args, CudaStream stream) const;

  void fill_deep(const PassArgs& args, Band band) const;
  void launch_fill_deep(const PassArgs& args, CudaStream stream) const;
  void resize_deep(const PassArgs& args, Band band) const;
  void launch_deep(const PassArgs& args, CudaStream stream) const;
  /// Returns the taps of the columns; the taps of the rows follow them.
  static DeepResizeTaps* deep_taps(const PassArgs& args) {
    return reinterpret_cast<DeepResizeTaps*>(args.scratch[0]);
  }
  size_t deep_worker_bytes(const ImageFormat& in, const ImageFormat& out) const;

  ResizeTable table_x(const PassArgs& args) const {
    return {reinterpret_cast<int32_t*>(args.scratch[0]), geometry_.x.m};
  }
  ResizeTable table_y(const PassArgs& args) const {
    return {reinterpret_cast<int32_t*>(args.scratch[1]), geometry_.y.m};
  }

  ResizeGeometry geometry_;  ///< sizes and method from configure()
};

}  // namespace lensd
