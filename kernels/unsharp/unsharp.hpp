// unsharp: in + amount · (in - gaussian(in)) where |in - gaussian(in)| > threshold, else in.
//
// Formats: Gray8, RGBA8 (each colour channel by itself; alpha passes through). Border rule: `border`, of the
// blur. Temporal reach: none. Exact given the gaussian filter's blur of the same sigma, bit by bit; amount is
// rounded to 1/256. One pass: on the CPU the blur is written to the output and combined there band by band,
// in the cache; on the GPU pixels are sharpened as they are written.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/gaussian/gaussian.hpp"
#include "kernels/unsharp/unsharp_math.hpp"

namespace lensd {

class Unsharp final : public FilterBase<Unsharp, UnsharpParams, UnsharpBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;

 private:
  Gaussian blur_;  ///< reads its block from ours
};

#if LENSD_CUDA
/// As prepare_gaussian_kernels().
void prepare_unsharp_kernels();
#endif

}  // namespace lensd
