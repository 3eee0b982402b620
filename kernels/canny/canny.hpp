// canny: local maxima of the gradient with hysteresis (Canny 1986).
//
//   (gaussian if sigma > 0) ─▶ gradient, non-maximum suppression ─▶ weak and strong pixels
//       ─▶ flood from strong pixels through 8-connected weak ones ─▶ edges, or overlay
//
// Without the blur, the result equals cv::Canny pixel by pixel (apertures 3, 5, 7; L1 and L2). The CPU floods
// strips of rows in parallel and joins them in one serial pass. CUDA floods tiles of 32 × 32 as bit masks and
// joins the remaining weak pixels by union-find on the tiles' borders (atomicMin, Playne & Hawick 2018), in
// three launches. The result of a flood does not depend on its order, so both backends output the same bytes.
//
// 16 bits: thresholds are 257 times as high, and edges are 65535.
//
// Formats: Gray8 and Gray16, in and out. Border rule: replicate as in cv::Canny (blur: reflect101). Temporal
// reach: none. Exact. output = edges: white or 0; overlay: edges in white over the input at half brightness.
//
// Changing sigma needs a new plan, since the blur needs its own pass and buffer.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/canny/canny_math.hpp"
#include "kernels/gaussian/gaussian.hpp"

namespace lensd {

class Canny final : public FilterBase<Canny, CannyParams, CannyBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void reference(ReferenceRun& run) const override;

 private:
  void blur(const PassArgs& args, Band band) const { blur_.apply(blur_args(args), band); }
  void launch_blur(const PassArgs& args, CudaStream stream) const;
  void find_edges(const PassArgs& args, Band band) const;
  void launch_find_edges(const PassArgs& args, CudaStream stream) const;
  void launch_deep_edges(const PassArgs& args, CudaStream stream) const;
  void launch_deep_output(const PassArgs& args, CudaStream stream) const;
  void join(const PassArgs& args, Band) const;
  void launch_join(const PassArgs& args, CudaStream stream) const;
  void write_edges(const PassArgs& args, Band band) const;
  void launch_write_edges(const PassArgs& args, CudaStream stream) const;

  /// Returns the arguments of the blur's pass, which writes to the last block of scratch.
  PassArgs blur_args(const PassArgs& args) const;
  /// Returns the input of the gradient: the blurred image, or the input of the filter if sigma is 0.
  ConstImageRef blurred(const PassArgs& args) const;

  Gaussian blur_;
  bool has_blur_ = false;  ///< sigma > 0 in configure()
};

/// Grid of the tiles that CUDA floods.
struct CannyTiles {
  static constexpr int side = 32, across = 4;  ///< a block processes four adjacent tiles
  int columns, rows;
  explicit CannyTiles(Extent e)
      : columns((e.width + side * across - 1) / (side * across) * across),
        rows((e.height + side - 1) / side) {}
  size_t count() const { return static_cast<size_t>(columns) * static_cast<size_t>(rows); }
};

}  // namespace lensd
