// gaussian: separable blur with a sampled, normalised Gaussian of 2 · radius + 1 taps.
//
// Formats: Gray8, RGBA8 (channel by channel, alpha passes through). Border rule: `border`. Temporal reach:
// none. Fixed point: within ±1 of the double-precision result everywhere and equal to its rounding in 99 % of
// pixels of noise and more. Every parameter is live: the CUDA launch is the same for all radii.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/gaussian/gaussian_math.hpp"

namespace lensd {

class Gaussian final : public FilterBase<Gaussian, GaussianParams, GaussianBlock> {
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
/// Once per process and device: lets the kernels use more than the default shared memory.
void prepare_gaussian_kernels();
#endif

}  // namespace lensd
