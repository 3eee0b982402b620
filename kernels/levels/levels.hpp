// levels: applies black and white points, gamma, contrast and brightness, then saturation.
//
//   t = clamp((v − black) / (white − black)), a step if white = black, inverted if white < black
//   t = clamp((t^(1/gamma) − 0.5)·contrast + 0.5 + brightness), rounded to 8 bits: one 256-entry table
//   out = clamp(luma + saturation·(channel − luma)) in fixed point
//
// luma is the BT.601 luma of the pixel after the table.
//
// 16 bits: `black` and `white` are multiplied by 257, and the table has 65536 entries.
//
// Formats: all (saturation is ignored for grey). Aliasing: none. Border rule: none. Temporal reach: none.
// Exact: the host computes the table for both backends; everything else is integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/common/single_pass.hpp"
#include "kernels/common/table/lut.hpp"

namespace lensd {

struct LevelsParams {
  double brightness = 0;
  double contrast = 1;
  double gamma = 1;
  double saturation = 1;
  double black = 0;
  double white = 255;
};

/// Returns the value of a channel before saturation: applies black and white points, gamma, contrast about
/// mid-grey, and brightness.
inline int levels_value(const LevelsParams& p, int v, int most = 255) {
  const double step = most / 255.0, black = p.black * step, white = p.white * step;
  const double span = white - black;
  const double ramp = span == 0 ? (v > black ? 1.0 : 0.0) : std::clamp((v - black) / span, 0.0, 1.0);
  const double toned = (std::pow(ramp, 1 / p.gamma) - 0.5) * p.contrast + 0.5 + p.brightness;
  return static_cast<int>(std::floor(std::clamp(toned, 0.0, 1.0) * most + 0.5));
}

struct LevelsBlock {
  LutTables tables;
  int saturation_q10;

  static LevelsBlock make(const LevelsParams& p) {
    LevelsBlock block;
    for (int v = 0; v < 256; ++v)
      for (auto& table : block.tables.channel) table[v] = static_cast<uint8_t>(levels_value(p, v));
    block.saturation_q10 = static_cast<int>(std::lround(p.saturation * 1024));
    return block;
  }
};

/// Parameter block for 16-bit images.
struct alignas(16) DeepLevelsBlock {
  uint16_t table[65536];
  int saturation_q10;
};

/// Moves channel `v` of 16 bits towards or away from the pixel's luma.
LENSD_HD constexpr int deep_saturated(int v, int luma, int saturation_q10) {
  return clamp_to(65535, luma + (((v - luma) * saturation_q10 + 512) >> 10));
}

/// Moves channel `v` towards or away from the pixel's luma.
LENSD_HD constexpr uint8_t saturated(int v, int luma, int saturation_q10) {
  return clamp_to_byte(luma + (((v - luma) * saturation_q10 + 512) >> 10));
}

class Levels final : public SinglePass<Levels, LevelsParams, LevelsBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  size_t block_bytes() const override;
  void fill_block(void* block) const override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void reference(ReferenceRun& run) const override;

 private:
  void apply_deep(const PassArgs& args, Band band) const;
  void launch_deep(const PassArgs& args, CudaStream stream) const;
  /// Lets the kernels use more than the default shared memory. Call before the first launch on a device.
  static void prepare_kernels();

  bool deep_ = false;  ///< the images have 16 bits per sample
};

}  // namespace lensd
