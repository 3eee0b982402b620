// canny: edges of the gradient's local maxima, weak ones kept where a chain of weak ones leads to a strong
// one.
//
//   (gaussian when sigma > 0) ─▶ gradient, non-maximum suppression ─▶ weak and strong pixels
//       ─▶ strong spreads through 8-connected weak pixels, to any length ─▶ edges, or overlay
//
// Equal to cv::Canny pixel for pixel (apertures 3, 5, 7; L1 and L2), without the blur. The CPU floods strips
// of rows in parallel and joins them in one serial pass; CUDA floods tiles of 32 × 32 as bit masks and joins
// what is left weak by union-find on the tiles' rims (atomicMin, as Playne & Hawick 2018), three launches and
// no host involved. Which pixels are reached does not depend on the order, so both give the same bytes.
//
// Formats: Gray8 in and out. Border rule: replicate, as cv::Canny (the blur: reflect101). Temporal reach:
// none. Exact. output = edges: 255 or 0; overlay: edges at 255 over the input at half brightness.
//
// A changed sigma makes a new plan, since without a blur there is neither its pass nor its buffer.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/canny/canny_math.hpp"
#include "kernels/gaussian/gaussian.hpp"

namespace lensd {

class Canny final : public FilterBase<Canny, CannyParams, CannyBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;

 private:
  /// Arguments of the blur's pass, which writes to the last block of scratch; and what it wrote.
  PassArgs blur_args(const PassArgs& args) const;
  ConstImageRef blurred(const PassArgs& args) const;

  Gaussian blur_;
  bool has_blur_ = false;  ///< as configured: pass 0 is the blur
};

/// Tiles of the CUDA side.
struct CannyTiles {
  static constexpr int side = 32, across = 4;  ///< a block takes four tiles side by side
  int columns, rows;
  explicit CannyTiles(Extent e)
      : columns((e.width + side * across - 1) / (side * across) * across),
        rows((e.height + side - 1) / side) {}
  size_t count() const { return static_cast<size_t>(columns) * static_cast<size_t>(rows); }
};

}  // namespace lensd
