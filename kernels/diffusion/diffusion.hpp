// diffusion: explicit anisotropic diffusion (Perona & Malik 1990) with conduction 1 / (1 +
// (difference/kappa)²) towards the four neighbours.
//
// At kappa's maximum conduction is 1: the linear heat equation, whose result is close to a Gaussian of
// σ = √(2 · lambda · iterations). Measured against that Gaussian in double precision: with lambda ≤ 0.2 and σ
// ≥ 2 within 2.2 on white noise of 0 and 255, 1.6 on uniform noise, 0.6 on smooth pictures; within 1 on noise
// from σ = 2.8 on. At lambda = 0.25 a chequerboard only changes its sign in each iteration, so that noise
// stays far off.
//
// Formats: Gray8, RGBA8 (each colour channel by itself; alpha passes through). Border rule: `border`, in
// every iteration; replicate and reflect let nothing flow out. Temporal reach: none. Fixed point with 8 bits
// behind the point; flows in single precision of prescribed order, rounded to integers. The CPU runs a pass
// for each iteration, CUDA one for four: the number of iterations is the number of passes and makes a new
// plan.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/diffusion/diffusion_math.hpp"

namespace lensd {

class Diffusion final : public FilterBase<Diffusion, DiffusionParams, DiffusionBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;

  /// Bytes of a row of 16-bit states in scratch.
  static size_t state_pitch(size_t values) {
    return (values * 2 + 255) / 256 * 256;
  }

 private:
  int iterations_ = 1;  ///< as configured
};

}  // namespace lensd
