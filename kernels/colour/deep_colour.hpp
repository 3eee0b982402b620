// Converts samples to 16-bit colours in single precision.
//
// Operations are rounded as in IEEE 754, in the order of the code, on both backends. Samples are exact, and
// weights are rounded to single precision. So a result differs from the exact one by less than 0.02 before it
// is rounded to 16 bits.
#pragma once

#include <cmath>

#include "kernels/colour/deep_light.hpp"
#include "kernels/colour/matrix_weights.hpp"
#include "kernels/common/samples.hpp"

namespace lensd {

struct DeepMatrix {
  float luma = 0;                        ///< weight of luma, of grey, and of R, G and B of RGB pictures
  float rv = 0, gu = 0, gv = 0, bu = 0;  ///< weights of chroma in sixteenths
  float black = 0, middle = 0;           ///< luma sample of black; zero chroma in sixteenths
  float alpha = 0;

  static DeepMatrix make(const PictureInfo& info) {
    const int extra = info.format.depth - 8;
    const double step = std::ldexp(1.0, extra), full = 65535 / (std::ldexp(1.0, info.format.depth) - 1);
    const bool limited = info.colour.range == Range::limited;
    const double luma = limited ? 65535 / (219 * step) : full, chroma = limited ? 65535 / (224 * step) : full;
    const auto weights = MatrixWeights::of(info.colour.matrix);
    const auto of_chroma = [&](double weight) { return static_cast<float>(chroma * weight / 16); };
    DeepMatrix m;
    m.luma = static_cast<float>(luma), m.alpha = static_cast<float>(full);
    m.rv = of_chroma(weights.rv), m.bu = of_chroma(weights.bu);
    m.gu = of_chroma(weights.gu), m.gv = of_chroma(weights.gv);
    m.black = limited ? static_cast<float>(16 * step) : 0.f;
    m.middle = static_cast<float>(16 * 128 * step);
    return m;
  }
};

/// R, G and B, where white is 65535; not rounded and not clamped.
struct DeepColours {
  float r, g, b;
};

LENSD_HD inline float deep_plain(const DeepMatrix& m, int sample) {
  return m.luma * (static_cast<float>(sample) - m.black);
}

LENSD_HD inline uint16_t deep_alpha(const DeepMatrix& m, int sample) {
  return to_deep_sample(m.alpha * static_cast<float>(sample));
}

/// Returns the colours of a YUV pixel. `u16` and `v16`: chroma in sixteenths.
LENSD_HD inline DeepColours deep_of_yuv(const DeepMatrix& m, int y, int u16, int v16) {
  const float base = deep_plain(m, y);
  const float u = static_cast<float>(u16) - m.middle, v = static_cast<float>(v16) - m.middle;
  return {base + m.rv * v, base - (m.gu * u + m.gv * v), base + m.bu * u};
}

LENSD_HD inline DeepColours deep_of_rgb(const DeepMatrix& m, int r, int g, int b) {
  return {deep_plain(m, r), deep_plain(m, g), deep_plain(m, b)};
}

}  // namespace lensd
