#include "kernels/colour/display_light.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/colour/gamut.hpp"
#include "kernels/colour/transfer.hpp"

namespace lensd {
namespace {

uint32_t rounded(double value) {
  return static_cast<uint32_t>(std::lround(value));
}

/// Fills a curve with `value_of(light)` in 1/scale, where light 1 is SDR white.
template <class Value>
void fill(LightCurve& curve, double scale, const Value& value_of) {
  for (int i = 0; i < LightCurve::kEntries; ++i)
    curve.value[i] = rounded(scale * value_of(LightCurve::light_at(i) / double{DisplayLight::kWhite}));
}

template <class Encode>
void fill_codes(DisplayLight& out, const Encode& encode) {
  const auto code = [&](double light) {
    return static_cast<uint8_t>(std::lround(255 * encode(std::min(1.0, light / DisplayLight::kWhite))));
  };
  for (int i = 0; i < DisplayLight::kDark; ++i) out.code[i] = code(i);
  // The middle of 16 values; white is exact.
  for (int i = 0; i < DisplayLight::kCoarse; ++i)
    out.code[DisplayLight::kDark + i] = code(DisplayLight::kDark + 16.0 * i + 7.5);
}

/// Rounds `count` weights to 1/8192 and corrects the largest one, so that the sum is 8192.
void fill_weights(const double* weights, int count, int32_t* out) {
  constexpr int32_t kOne = 1 << DisplayLight::kMatrixBits;
  int32_t sum = 0;
  for (int i = 0; i < count; ++i) sum += out[i] = static_cast<int32_t>(std::lround(weights[i] * kOne));
  *std::max_element(out, out + count) += kOne - sum;
}

}  // namespace

void DisplayLight::make(const ColourSpec& colour, DisplayLight& out) {
  const bool hlg = colour.transfer == Transfer::hlg, hdr = colour.transfer != Transfer::sdr;
  const double peak = hlg ? kHlgPeak : hdr ? colour.peak : kSdrWhite;
  for (int i = 0; i < kCodes; ++i) {
    const double code = i / double{kCodes - 1};
    const double light = hlg   ? hlg_to_scene(code) * kHlgPeak / kSdrWhite
                         : hdr ? pq_to_luminance(code) / kSdrWhite
                               : bt2020_to_scene(code);
    out.linear[i] = rounded(light * kWhite);
  }
  out.has_system = hlg, out.has_tone = hdr, out.has_gamut = colour.primaries != Primaries::bt709;
  fill(out.system, 1 << kSystemBits,
       [](double light) { return std::pow(std::min(1.0, light * kSdrWhite / kHlgPeak), kHlgGamma - 1); });
  fill(out.tone, kWhite, [&](double light) { return tone_mapped(light * kSdrWhite, peak) / kSdrWhite; });
  fill_weights(kLuminance, 3, out.luminance);
  const double* matrix = colour.primaries == Primaries::p3 ? kFromP3 : kFromBt2020;
  for (int row = 0; row < 9; row += 3) fill_weights(matrix + row, 3, out.gamut + row);
  if (hdr)
    fill_codes(out, srgb_of_light);
  else
    fill_codes(out, scene_to_bt2020);
}

}  // namespace lensd
