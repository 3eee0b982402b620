// convert: converts between working formats. The plan adds this node where a filter does not accept a format.
//
// Formats: all. Grey → colour: R, G and B are the grey value, and alpha is opaque. Colour → grey: bt601
// weights, as in grayscale. 8 → 16 bits: 257 · v. 16 → 8 bits: rounded to nearest, after the conversion to
// grey. RGBA8 → Gray16: widened to 16 bits first. An input that already has the right format is copied.
// Border rule: none. Temporal reach: none. Exact.
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
