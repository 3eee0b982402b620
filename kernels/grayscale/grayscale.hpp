// grayscale: weighted sum of the colour channels.
//
// Formats: RGBA8 → Gray8; Gray8 is copied. Border rule: none. Temporal reach: none. Exact: fixed point with
// weights in 1/32768, rounded; within ±1 of the real-valued sum and of cv::cvtColor.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/grayscale/grayscale_math.hpp"

namespace lensd {

class Grayscale final : public FilterBase<Grayscale, GrayscaleParams, LumaBlock> {
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
