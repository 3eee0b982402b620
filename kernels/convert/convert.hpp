// convert: Gray8 ↔ RGBA8. The plan adds this node where a filter accepts only one of the formats.
//
// Formats: Gray8 → RGBA8 (the grey three times, alpha 255), RGBA8 → Gray8 (bt601 weights, as in grayscale);
// an input of the right format is copied. Border rule: none. Temporal reach: none. Exact.
#pragma once

#include "kernels/grayscale/grayscale.hpp"

namespace lensd {

struct ConvertParams {};

struct ConvertBlock {
  LumaBlock weights;
  static ConvertBlock make(const ConvertParams&) { return {LumaBlock::make(LumaWeights::bt601)}; }
};

class Convert final : public SinglePass<Convert, ConvertParams, ConvertBlock> {
 public:
  explicit Convert(PixelFormat to) : to_(to) {}
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void reference(ReferenceRun& run) const override;

 private:
  PixelFormat to_;
};

}  // namespace lensd
