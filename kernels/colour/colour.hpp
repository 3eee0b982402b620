// colour: converts a decoded picture to upright RGBA8 (YUV, RGB) or Gray8 (grey). The source node of a plan.
//
// Formats: every PictureFormat with 8 to 16 bits per sample and chroma subsampled by 1 or 2 in each
// direction. Chroma is upsampled bilinearly according to its siting (left: on a luma column, between rows;
// center: between columns and between rows; top_left: on a column and a row); border rule: replicate. Then
// the bt601, bt709 or bt2020 matrix is applied and rounded to 8 bits in one fixed-point step. Limited range
// is expanded, for grey and RGB pictures too. Alpha always has full range. HDR and BT.2020 colours are
// converted to SDR and BT.709, see display_light.hpp; the matrix then gives codes of 12 bits. Exact: both
// backends compute the same integers, within ±1 of double precision (HDR: ±2). Temporal reach: none.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/colour/colour_math.hpp"

namespace lensd {

class Colour final : public FilterBase<Colour, ColourParams, ColourBlock> {
 public:
  static FilterSchema make_schema();
  /// Throws Error(invalid_config) if the node is not the source node. Throws Error(bad_source) if the
  /// picture's layout is not supported, such as chroma subsampled by four.
  Layout configure(const FilterInputs& inputs) override;
  size_t block_bytes() const override;
  void fill_block(void* block) const override;
  /// Always throws Error(runtime_failure), since there is no input image. Use colour_reference() instead.
  void reference(ReferenceRun& run) const override;

 private:
  void convert(const PassArgs& args, Band band) const;
  void launch_convert(const PassArgs& args, CudaStream stream) const;

  const DisplayLight* light_of(const PassArgs& args) const;

  PictureInfo info_;
  ColourMatrix matrix_, codes_;
};

/// Returns `picture`, which is in host memory, converted by the scalar oracle.
Image colour_reference(const PictureRef& picture);

}  // namespace lensd
