// compare: how far two images of the same size are apart, as exact sums (struct Comparison in
// core/graph/scope_request.hpp): squared differences of each colour channel, and structural similarity of
// luma over 8×8 windows every 4 pixels.
//
// The sums are the node's statistics; its output image is 1×1 and means nothing. The plan adds it for a Tap
// of kind compare. Luma has the weights of BT.601 or, for sources of BT.709 or BT.2020, of BT.709.
//
// Formats: Gray8, RGBA8, both inputs alike. Aliasing: none. Border rule: none, partial blocks at the right
// and bottom have no window. Temporal reach: none. Exact: integers, and one IEEE division a window.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/compare/compare_math.hpp"

namespace lensd {

class Compare final : public FilterBase<Compare, CompareParams, CompareBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  /// The image only; the definition of the sums is compare_reference().
  void reference(ReferenceRun& run) const override;
  Comparison compare_reference(const Image& a, const Image& b) const;

 private:
  enum Pass { kBlocks, kWindows };
};

}  // namespace lensd
