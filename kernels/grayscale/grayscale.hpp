// grayscale: outputs a weighted sum of the colour channels.
//
// Formats: RGBA8 → Gray8, RGBA16 → Gray16; grey is copied. Border rule: none. Temporal reach: none. Exact:
// fixed point with weights in 1/32768, rounded; within ±1 of the real-valued sum and of cv::cvtColor.
#pragma once

#include <cstdint>

#include "kernels/common/single_pass.hpp"

namespace lensd {

enum class LumaWeights : uint8_t { bt601, bt709, average };

struct GrayscaleParams {
  LumaWeights weights = LumaWeights::bt601;
};

/// Luma weights in 1/32768 with sum 1. The bt601 weights are OpenCV's.
struct LumaBlock {
  int16_t r, g, b, zero;

  static constexpr LumaBlock make(LumaWeights weights) {
    switch (weights) {
      case LumaWeights::bt709:
        return {6966, 23436, 2366, 0};
      case LumaWeights::average:
        return {10923, 10922, 10923, 0};
      default:
        return {9798, 19235, 3735, 0};
    }
  }
  static constexpr LumaBlock make(const GrayscaleParams& params) { return make(params.weights); }
};

/// Returns the rounded weighted sum, 0 to 255.
LENSD_HD constexpr uint8_t luma(const LumaBlock& w, int r, int g, int b) {
  return static_cast<uint8_t>((w.r * r + w.g * g + w.b * b + (1 << 14)) >> 15);
}

/// Does the same for samples of 16 bits. The sum is below 2^31.
LENSD_HD constexpr uint16_t luma16(const LumaBlock& w, uint32_t r, uint32_t g, uint32_t b) {
  return static_cast<uint16_t>((static_cast<uint32_t>(w.r) * r + static_cast<uint32_t>(w.g) * g +
                                static_cast<uint32_t>(w.b) * b + (1u << 14)) >>
                               15);
}

class Grayscale final : public SinglePass<Grayscale, GrayscaleParams, LumaBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void reference(ReferenceRun& run) const override;
};

/// Computes the luma of the rows of `band`. Thread-safe.
void luma_rows(ConstImageRef rgba, ImageRef gray, Band band, const LumaBlock& weights);
/// Queues the luma of the whole image on CUDA; `weights` is in device memory.
void launch_luma(ConstImageRef rgba, ImageRef gray, const LumaBlock* weights, CudaStream stream);
/// Returns the luma computed by the scalar oracle.
Image luma_reference(const Image& rgba, const LumaBlock& weights);

}  // namespace lensd
