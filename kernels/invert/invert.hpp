// invert: every colour channel becomes 255 − value; alpha passes through.
//
// Formats: Gray8, RGBA8. Border rule: none. Temporal reach: none. Exact.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/invert/invert_math.hpp"

namespace lensd {

class Invert final : public FilterBase<Invert, InvertParams, InvertBlock> {
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
