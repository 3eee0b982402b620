// blend: two inputs of one size into one picture. For channels a of the first and b of the second input, f is
//
//   normal      b                        multiply    a·b/255
//   add         min(255, a + b)          difference  |a − b|
//   screen      255 − (255−a)(255−b)/255 mask        a·m/255, m the BT.601 luma (or gray value) of the
//   second:
//                                                    the first input seen through the second, over black
//
// and out = a + opacity·(f − a). Products are rounded to nearest, opacity is 8-bit fixed point rounded half
// up. Alpha comes from the first input; the second's is not looked at.
//
// Formats: Gray8, RGBA8, both inputs alike. Aliasing: none. Border rule: none. Temporal reach: none. Exact.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/blend/blend_math.hpp"

namespace lensd {

class Blend final : public FilterBase<Blend, BlendParams, BlendBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;
};

}  // namespace lensd
