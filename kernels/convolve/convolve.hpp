// convolve: correlation with a kernel of odd sides up to 15×15, as cv::filter2D with delta = bias.
//
// The kernel is `compose` if given (several kernels, convolved into one in advance), else `preset`, else
// `kernel`. A composition is refused if it is larger than 15×15 or if its Σ|weight| exceeds 1e12. `normalize`
// divides by the sum of the weights unless the sum is zero.
//
// Formats: all (alpha passes through). Border rule: `border`. Temporal reach: none.
//
// 8 bits: fixed point. Weights and `bias` are rounded to 1/2^shift, and the sum is rounded half up, once.
// Kernels of small integers or short binary fractions give exact results if `bias` is a whole number.
// Otherwise, for Σ|weight| ≤ 30, results differ from the real-valued correlation by at most half a level
// before they are rounded. cv::filter2D rounds half to even, so results are within ±1 of it.
//
// 16 bits: single precision; products are added row by row, and `bias` is multiplied by 257. If all weights
// are multiples of a common unit by factors up to 255, these factors are the weights, and the sum is
// multiplied by the unit. For Σ|weight| ≤ 30, results are within 1 of those in double precision.
#pragma once

#include "kernels/common/single_pass.hpp"
#include "kernels/convolve/convolve_math.hpp"

namespace lensd {

class Convolve final : public SinglePass<Convolve, ConvolveParams, ConvolveBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void reference(ReferenceRun& run) const override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;

 private:
  void apply_deep(const PassArgs& args, Band band) const;
  static size_t deep_worker_bytes();
  void launch_deep(const PassArgs& args, CudaStream stream) const;

  /// Sets the shared-memory carveout of all kernels to its maximum, so that several blocks fit on a
  /// multiprocessor. Call before the first launch on a device. Calls prepare_deep_kernels().
  static void prepare_kernels();
  static void prepare_deep_kernels();
};

}  // namespace lensd
