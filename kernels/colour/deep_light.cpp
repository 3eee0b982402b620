#include "kernels/colour/deep_light.hpp"

#include <algorithm>

#include "kernels/colour/light_conversion.hpp"

namespace lensd {
namespace {

/// Fills a curve with `value_of(light)`.
template <class Value>
void fill(OctaveCurve& curve, const Value& value_of) {
  for (int i = 0; i < OctaveCurve::kEntries; ++i)
    curve.value[i] = static_cast<float>(value_of(OctaveCurve::light_at(i)));
}

}  // namespace

void DeepLight::make(const ColourSpec& colour, const ColourSettings& settings, DeepLight& out) {
  const LightConversion conversion(colour, settings);
  for (int i = 0; i <= EvenCurve::kSteps; ++i)
    out.linear.value[i] = static_cast<float>(conversion.linear(i / double{EvenCurve::kSteps}));
  out.linear.value[EvenCurve::kSteps + 1] = out.linear.value[EvenCurve::kSteps];
  out.has_system = conversion.has_system, out.has_tone = conversion.has_tone;
  out.has_gamut = conversion.has_gamut;
  fill(out.system, [&](double light) { return conversion.system_gain(light); });
  fill(out.tone, [&](double light) { return conversion.tone(light); });
  fill(out.code, [&](double light) { return 65535 * conversion.code(std::min(1.0, light)); });
  for (int i = 0; i < 3; ++i) out.luminance[i] = static_cast<float>(kLuminance[i]);
  for (int i = 0; i < 9; ++i) out.gamut[i] = static_cast<float>(conversion.gamut[static_cast<size_t>(i)]);
}

}  // namespace lensd
