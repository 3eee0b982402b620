// compare: computes the difference of two images of the same size as exact sums; see struct Comparison in
// core/graph/scope_request.hpp. The sums are the squared differences of each colour channel and the
// structural similarity of luma over 8×8 windows every 4 pixels.
//
// The sums are the node's statistics; the output image is a 1×1 dummy. The plan adds this node for a scope of
// kind compare. Luma uses the weights of BT.601 or, for BT.709 and BT.2020 sources, of BT.709.
//
// 16 bits: both measures use all bits. White is 65535, and the constants of the similarity derive from it.
//
// Formats: all, the same for both inputs. Aliasing: none. Border rule: none; incomplete blocks at the right
// and bottom have no window. Temporal reach: none. Exact: integers, and one IEEE division per window.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/compare/compare_math.hpp"

namespace lensd {

class Compare final : public FilterBase<Compare, ScopeParams, CompareBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  /// Sets only the output image; the oracle of the sums is compare_reference().
  void reference(ReferenceRun& run) const override;
  Comparison compare_reference(const Image& a, const Image& b) const;

 private:
  void sum_blocks(const PassArgs& args, Band band) const;
  void launch_sum_blocks(const PassArgs& args, CudaStream stream) const;
  void sum_windows(const PassArgs& args, Band band) const;
  void launch_sum_windows(const PassArgs& args, CudaStream stream) const;
};

}  // namespace lensd
