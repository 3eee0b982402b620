#pragma once

#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

enum class LumaWeights : uint8_t { bt601, bt709, average };

struct GrayscaleParams {
  LumaWeights weights = LumaWeights::bt601;
};

/// Weights in 1/32768, which they sum to. Those of bt601 are OpenCV's.
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

/// Rounded weighted sum, 0 to 255.
LENSD_HD constexpr uint8_t luma(const LumaBlock& w, int r, int g, int b) {
  return static_cast<uint8_t>((w.r * r + w.g * g + w.b * b + (1 << 14)) >> 15);
}

}  // namespace lensd
