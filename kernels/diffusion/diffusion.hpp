// diffusion: explicit anisotropic diffusion (Perona & Malik 1990) with conduction 1 / (1 +
// (difference/kappa)²) towards the four neighbours.
//
// At the maximum of kappa the conduction is 1: the linear heat equation, whose result is close to a Gaussian
// of σ = √(2 · lambda · iterations). For lambda ≤ 0.2 and σ ≥ 2, the largest differences from that Gaussian
// in double precision are 2.2 levels on white noise of 0 and 255, 1.6 on uniform noise and 0.6 on smooth
// pictures. For σ ≥ 2.8, the difference is at most 1 on noise as well. At lambda = 0.25 the highest frequency
// (a chequerboard) only changes its sign in each iteration and is not attenuated.
//
// Formats: all (channel by channel; alpha passes through; kappa is multiplied by 257 for 16-bit images).
// Border rule: `border`, in every iteration; with replicate and reflect nothing flows out. Temporal reach:
// none. Fixed point with 8 fractional bits; flows are computed in single precision in a fixed order and
// rounded to integers. A pass is one iteration on the CPU and up to four on CUDA, so changing the number of
// iterations needs a new plan.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/diffusion/diffusion_math.hpp"

namespace lensd {

class Diffusion final : public FilterBase<Diffusion, DiffusionParams, DiffusionBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void reference(ReferenceRun& run) const override;

 private:
  void iterate(const PassArgs& args, Band band) const;
  void iterate_deep(const PassArgs& args, Band band) const;
  static size_t deep_worker_bytes(const ImageFormat& format);
  void launch_iterations(const PassArgs& args, CudaStream stream) const;
  /// Returns the pitch in bytes of rows of states in scratch memory. States of 8-bit images have 16 bits;
  /// states of 16-bit images are floats.
  static size_t state_pitch(size_t values, PixelFormat format) {
    return (values * 2 * static_cast<size_t>(sample_bytes(format)) + 255) / 256 * 256;
  }
  int iterations_ = 1;  ///< number of iterations from configure()
};

}  // namespace lensd
