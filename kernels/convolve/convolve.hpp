// convolve: correlation with a kernel of odd sides up to 15×15, as cv::filter2D with delta = bias.
//
// The kernel is `compose` where given (kernels convolved with one another into one, beforehand), else
// `preset`, else `kernel`. normalize divides by the sum of the weights where that is not zero.
//
// Formats: Gray8, RGBA8 (alpha passes through). Border rule: `border`. Temporal reach: none.
// Fixed point: weights are rounded to 1/2^shift and the sum is rounded half up, once. Kernels of small
// integers or short binary fractions are exact. Otherwise results are within half a level plus rounding of
// the real-valued correlation while Σ|weight| ≤ 30, hence within ±1 of cv::filter2D (which rounds half to
// even).
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/convolve/convolve_math.hpp"

namespace lensd {

class Convolve final : public FilterBase<Convolve, ConvolveParams, ConvolveBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;
};

#if LENSD_CUDA
/// Before the first launch on a device: gives the kernels shared memory for several blocks.
void prepare_convolve_kernels();
#endif

}  // namespace lensd
