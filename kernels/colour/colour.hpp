// colour: converts a decoded picture to an upright image with the plan's precision. The image is grey if the
// picture is grey, else RGBA. Used only as the source node of a plan.
//
// Formats: every PictureFormat with 8 to 16 bits per sample and chroma subsampled by 1 or 2 in each
// direction. Chroma is upsampled bilinearly according to its siting (left: on a luma column, between rows;
// center: between columns and between rows; top_left: on a column and a row). Border rule: replicate. Then
// the bt601, bt709 or bt2020 matrix is applied. Limited range is expanded, even in grey and RGB pictures.
// Alpha always has full range. HDR, BT.2020 and P3 colours are converted to SDR and BT.709; see
// needs_linear_light(). Temporal reach: none.
//
// 8 bits: the matrix is in fixed point and rounds once; both backends compute the same integers, within ±1 of
// double precision. For the colours of needs_linear_light(), the matrix gives 12-bit codes, and results are
// within ±2; see display_light.hpp. 16 bits: single precision in a fixed order, see deep_colour.hpp and
// deep_light.hpp.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/colour/colour_math.hpp"
#include "kernels/colour/deep_colour.hpp"

namespace lensd {

class Colour final : public FilterBase<Colour, ColourParams, ColourBlock> {
 public:
  static FilterSchema make_schema();
  /// Throws Error(invalid_config) if the node is not the source node. Throws Error(bad_source) if the
  /// picture's depth or layout is not supported, such as chroma subsampled by four.
  Layout configure(const FilterInputs& inputs) override;
  size_t block_bytes() const override;
  void fill_block(void* block) const override;
  /// Always throws Error(runtime_failure), since there is no input image. Use colour_reference() instead.
  void reference(ReferenceRun& run) const override;

 private:
  void convert(const PassArgs& args, Band band) const;
  void launch_convert(const PassArgs& args, CudaStream stream) const;

  void convert_rows(const PassArgs& args, int y, int count, uint8_t* out, size_t pitch) const;
  void launch_deep(const PassArgs& args, CudaStream stream) const;
  bool has_tables() const;
  template <class Light>
  const Light* light_of(const PassArgs& args) const;

  PictureInfo info_;
  ColourSettings settings_;
  bool deep_ = false;  ///< the output has 16 bits per sample
  ColourMatrix matrix_, codes_;
  DeepMatrix deep_matrix_;
};

template <class Light>
const Light* Colour::light_of(const PassArgs& args) const {
  return has_tables() ? static_cast<const Light*>(args.block) : nullptr;
}

/// Converts `picture` with the scalar oracle. The picture must be in host memory. `precision`: 8 or 16.
Image colour_reference(const PictureRef& picture, int precision = 8, const ColourSettings& settings = {});

}  // namespace lensd
