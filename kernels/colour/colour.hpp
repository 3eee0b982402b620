// colour: decoded picture → RGBA8 (YUV and RGB pictures) or Gray8 (grey ones), upright. The plan's source
// node.
//
// Formats: every PictureFormat, 8 to 16 bits a sample, chroma subsampled by 1 or 2 in each direction.
// Chroma is brought to full size by bilinear interpolation that honours its siting (left: on the luma column,
// between rows; center: between both; top_left: on both), edges repeated; then the matrix of bt601, bt709 or
// bt2020 is applied and rounded to 8 bits in one fixed-point step. Limited range is expanded for grey and
// RGB, too, where the picture says that it is limited. Alpha, where there is one, is always of full range.
// Exact in the sense that both backends compute the same integers; within ±1 of double precision.
// Temporal reach: none.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/colour/colour_math.hpp"

namespace lensd {

class Colour final : public FilterBase<Colour, ColourParams, ColourBlock> {
 public:
  static FilterSchema make_schema();
  /// Throws Error(bad_source) for a layout that no decoder delivers (chroma subsampled by four, say).
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  /// There is no input image: see colour_reference().
  void reference(ReferenceRun& run) const override;

 private:
  PictureInfo info_;
  ColourMatrix matrix_;
};

/// The definition, for a picture in host memory.
Image colour_reference(const PictureRef& picture);

}  // namespace lensd
