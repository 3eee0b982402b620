// convert: Gray8 ↔ RGBA8, the node that the plan adds where a filter takes only one of them.
//
// Formats: Gray8 → RGBA8 (the grey three times, alpha 255), RGBA8 → Gray8 (bt601, as grayscale); an input
// that is already right is copied. Border rule: none. Temporal reach: none. Exact.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/grayscale/grayscale_math.hpp"

namespace lensd {

struct ConvertParams {};

struct ConvertBlock {
  LumaBlock weights;
  static ConvertBlock make(const ConvertParams&) { return {LumaBlock::make(LumaWeights::bt601)}; }
};

class Convert final : public FilterBase<Convert, ConvertParams, ConvertBlock> {
 public:
  explicit Convert(PixelFormat to) : to_(to) {}
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;

 private:
  PixelFormat to_;
};

}  // namespace lensd
