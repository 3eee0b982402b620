#include "kernels/colour/display_light.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/colour/light_conversion.hpp"

namespace lensd {
namespace {

uint32_t rounded(double value) {
  return static_cast<uint32_t>(std::lround(value));
}

/// Fills a curve with `value_of(light)` in units of 1/scale, where light 1 is SDR white.
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
  // From kDark, an entry covers 16 values of light and has the code of their middle. White begins the last
  // interval and has code 255.
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

void DisplayLight::make(const ColourSpec& colour, const ColourSettings& settings, DisplayLight& out) {
  const LightConversion conversion(colour, settings);
  for (int i = 0; i < kCodes; ++i)
    out.linear[i] = rounded(conversion.linear(i / double{kCodes - 1}) * kWhite);
  out.has_system = conversion.has_system, out.has_tone = conversion.has_tone;
  out.has_gamut = conversion.has_gamut;
  fill(out.system, 1 << kSystemBits, [&](double light) { return conversion.system_gain(light); });
  fill(out.tone, kWhite, [&](double light) { return conversion.tone(light); });
  fill_weights(kLuminance, 3, out.luminance);
  for (int row = 0; row < 9; row += 3) fill_weights(conversion.gamut.data() + row, 3, out.gamut + row);
  fill_codes(out, [&](double light) { return conversion.code(light); });
}

}  // namespace lensd
