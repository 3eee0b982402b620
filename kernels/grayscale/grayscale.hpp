// grayscale: outputs a weighted sum of the colour channels.
//
// Formats: RGBA8 → Gray8, RGBA16 → Gray16; grey is copied. Border rule: none. Temporal reach: none. Exact.
// 8 bits: fixed point with weights in 1/32768, rounded; within ±1 of the real-valued sum and of cv::cvtColor.
// 16 bits: single precision in the order of the code, rounded; within 0.51 of the real-valued sum.
#pragma once

#include <cstdint>

#include "kernels/common/single_pass.hpp"

namespace lensd {

enum class LumaWeights : uint8_t { bt601, bt709, average };

struct GrayscaleParams {
  LumaWeights weights = LumaWeights::bt601;
};

/// Luma weights, as integers in units of 1/32768 (bt601: those of OpenCV) and as floats. Both sum to 1.
struct LumaBlock {
  int16_t r, g, b, zero;
  float red, green, blue;

  static constexpr LumaBlock make(LumaWeights weights) {
    switch (weights) {
      case LumaWeights::bt709:
        return {6966, 23436, 2366, 0, 0.2126f, 0.7152f, 0.0722f};
      case LumaWeights::average:
        return {10923, 10922, 10923, 0, 1 / 3.f, 1 / 3.f, 1 / 3.f};
      default:
        return {9798, 19235, 3735, 0, 0.299f, 0.587f, 0.114f};
    }
  }
  static constexpr LumaBlock make(const GrayscaleParams& params) { return make(params.weights); }
};

/// Returns the rounded weighted sum, 0 to 255.
LENSD_HD constexpr uint8_t luma(const LumaBlock& w, int r, int g, int b) {
  return static_cast<uint8_t>((w.r * r + w.g * g + w.b * b + (1 << 14)) >> 15);
}

/// Returns the rounded weighted sum of 16-bit samples. If r = g = b, returns this value.
LENSD_HD constexpr uint16_t luma16(const LumaBlock& w, uint32_t r, uint32_t g, uint32_t b) {
  const auto real = [](uint32_t v) { return static_cast<float>(static_cast<int>(v)); };
  return static_cast<uint16_t>(
      static_cast<int>(w.red * real(r) + w.green * real(g) + w.blue * real(b) + 0.5f));
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
