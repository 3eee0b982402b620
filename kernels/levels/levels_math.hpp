#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/common/lut.hpp"

namespace lensd {

struct LevelsParams {
  double brightness = 0;
  double contrast = 1;
  double gamma = 1;
  double saturation = 1;
  int black = 0;
  int white = 255;
};

/// The value of a channel before saturation: black and white points, gamma, contrast about mid-gray,
/// brightness.
inline uint8_t levels_value(const LevelsParams& p, int v) {
  const double span = p.white - p.black;
  const double ramp = span == 0 ? (v > p.black ? 1.0 : 0.0) : std::clamp((v - p.black) / span, 0.0, 1.0);
  const double toned = (std::pow(ramp, 1 / p.gamma) - 0.5) * p.contrast + 0.5 + p.brightness;
  return static_cast<uint8_t>(std::floor(std::clamp(toned, 0.0, 1.0) * 255 + 0.5));
}

struct LevelsBlock {
  LutTables tables;
  int saturation_q10;

  static LevelsBlock make(const LevelsParams& p) {
    LevelsBlock block;
    for (int v = 0; v < 256; ++v)
      for (auto& table : block.tables.channel) table[v] = levels_value(p, v);
    block.saturation_q10 = static_cast<int>(std::lround(p.saturation * 1024));
    return block;
  }
};

/// BT.601 luma in 8-bit fixed point.
LENSD_HD constexpr int levels_luma(int r, int g, int b) {
  return (77 * r + 150 * g + 29 * b + 128) >> 8;
}

/// Channel `v` moved to or away from the pixel's luma.
LENSD_HD constexpr uint8_t saturated(int v, int luma, int saturation_q10) {
  const int moved = luma + (((v - luma) * saturation_q10 + 512) >> 10);
  return static_cast<uint8_t>(moved < 0 ? 0 : moved > 255 ? 255 : moved);
}

}  // namespace lensd
