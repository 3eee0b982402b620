// bilateral: mean weighted by distance and by difference of value (Tomasi & Manduchi 1998), over a disc.
//
// Formats: Gray8, RGBA8 (each colour channel by itself; alpha passes through). Border rule: `border`.
// Temporal reach: none. Fixed point: weights from tables in 1/4096, integer sums and one rounded division;
// within ±1 of the same sums in double precision.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/bilateral/bilateral_math.hpp"

namespace lensd {

class Bilateral final : public FilterBase<Bilateral, BilateralParams, BilateralBlock> {
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
