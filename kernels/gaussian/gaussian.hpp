// gaussian: separable blur with a sampled, normalised Gaussian of 2 · radius + 1 taps.
//
// Formats: all (channel by channel, alpha passes through). Border rule: `border`. Temporal reach: none. 8
// bits: fixed point, within ±1 of the double-precision result, and equal to its rounding in at least 99 % of
// the pixels of noise. 16 bits: single precision in a fixed order, not rounded between the passes, within 0.6
// of the double-precision result. All parameters can change without a new plan, because the CUDA launch is
// the same for all radii.
#pragma once

#include "kernels/common/single_pass.hpp"
#include "kernels/gaussian/gaussian_math.hpp"

namespace lensd {

class Gaussian final : public SinglePass<Gaussian, GaussianParams, GaussianBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void reference(ReferenceRun& run) const override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void launch_deep(const PassArgs& args, CudaStream stream) const;

 private:
  /// Lets the kernels use more than the default shared memory. Call before the first launch on a device.
  static void prepare_kernels();
  static void prepare_deep_kernels();
};

}  // namespace lensd
