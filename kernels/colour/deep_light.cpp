#include "kernels/colour/deep_light.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/colour/gamut.hpp"
#include "kernels/colour/transfer.hpp"

namespace lensd {
namespace {

/// Fills a curve with `value_of(light)`.
template <class Value>
void fill(OctaveCurve& curve, const Value& value_of) {
  for (int i = 0; i < OctaveCurve::kEntries; ++i)
    curve.value[i] = static_cast<float>(value_of(OctaveCurve::light_at(i)));
}

}  // namespace

void DeepLight::make(const ColourSpec& colour, DeepLight& out) {
  const bool hlg = colour.transfer == Transfer::hlg, hdr = colour.transfer != Transfer::sdr;
  const double peak = hlg ? kHlgPeak : hdr ? colour.peak : kSdrWhite;
  for (int i = 0; i <= EvenCurve::kSteps; ++i) {
    const double signal = i / double{EvenCurve::kSteps};
    out.linear.value[i] = static_cast<float>(hlg   ? hlg_to_scene(signal) * kHlgPeak / kSdrWhite
                                             : hdr ? pq_to_luminance(signal) / kSdrWhite
                                                   : bt2020_to_scene(signal));
  }
  out.linear.value[EvenCurve::kSteps + 1] = out.linear.value[EvenCurve::kSteps];
  out.has_system = hlg, out.has_tone = hdr, out.has_gamut = colour.primaries != Primaries::bt709;
  fill(out.system,
       [](double light) { return std::pow(std::min(1.0, light * kSdrWhite / kHlgPeak), kHlgGamma - 1); });
  fill(out.tone, [&](double light) { return tone_mapped(light * kSdrWhite, peak) / kSdrWhite; });
  fill(out.code, [&](double light) {
    const double limited = std::min(1.0, light);
    return 65535 * (hdr ? srgb_of_light(limited) : scene_to_bt2020(limited));
  });
  const double* matrix = colour.primaries == Primaries::p3 ? kFromP3 : kFromBt2020;
  for (int i = 0; i < 3; ++i) out.luminance[i] = static_cast<float>(kLuminance[i]);
  for (int i = 0; i < 9; ++i) out.gamut[i] = static_cast<float>(matrix[i]);
}

}  // namespace lensd
