// bilateral: mean over a disc, weighted by distance and by difference of value (Tomasi & Manduchi 1998).
//
// Formats: all (channel by channel; alpha passes through). Border rule: `border`. Temporal reach: none.
// Results are within ±1 of double precision. For 8-bit images, fixed point: weights in 1/4096 from tables,
// integer sums, one rounded division. For 16-bit images, single precision in a fixed order and sigma_color
// multiplied by 257; see deep_bilateral.hpp.
#pragma once

#include "kernels/bilateral/bilateral_math.hpp"
#include "kernels/common/single_pass.hpp"

namespace lensd {

class Bilateral final : public SinglePass<Bilateral, BilateralParams, BilateralBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void reference(ReferenceRun& run) const override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;

 private:
  void apply_deep(const PassArgs& args, Band band) const;
  void launch_deep(const PassArgs& args, CudaStream stream) const;
};

}  // namespace lensd
