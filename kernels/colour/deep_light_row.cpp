// DeepLight::convert() for whole vectors: the same operations in the same order, so that the bytes are the
// same.
#include <algorithm>
#include <cstdint>

#include "kernels/colour/colour_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/colour/deep_light_row.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::Vec<hn::ScalableTag<float>>;
using Indexes = hn::Vec<hn::ScalableTag<int32_t>>;

/// Returns value[i] + (value[i + 1] − value[i]) · rest. One load of 64 bits reads both entries.
HWY_INLINE Floats interpolated(const float* value, Indexes i, Floats rest) {
  const hn::ScalableTag<float> df;
  const hn::ScalableTag<int64_t> d64;
  const hn::RebindToUnsigned<decltype(d64)> du64;
  const auto* const pairs = reinterpret_cast<const int64_t*>(value);
  const auto offsets = hn::BitCast(du64, hn::ShiftLeft<2>(i));  // byte offsets of two lanes
  const auto even =
      hn::GatherOffset(d64, pairs, hn::BitCast(d64, hn::And(offsets, hn::Set(du64, 0xffffffffu))));
  const auto odd = hn::GatherOffset(d64, pairs, hn::BitCast(d64, hn::ShiftRight<32>(offsets)));
  const auto here = hn::OddEven(hn::BitCast(df, hn::ShiftLeft<32>(odd)), hn::BitCast(df, even));
  const auto next = hn::OddEven(hn::BitCast(df, odd), hn::BitCast(df, hn::ShiftRight<32>(even)));
  return hn::Add(here, hn::Mul(hn::Sub(next, here), rest));
}

/// Does the same as EvenCurve::at() for a vector.
HWY_INLINE Floats even_at(const EvenCurve& curve, Floats v) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> d;
  const auto steps = hn::Set(df, static_cast<float>(EvenCurve::kSteps));
  const auto place = hn::Mul(hn::Min(hn::Max(v, hn::Zero(df)), hn::Set(df, 1.f)), steps);
  const auto i = hn::ConvertTo(d, place);
  return interpolated(curve.value, i, hn::Sub(place, hn::ConvertTo(df, i)));
}

/// Does the same as OctaveCurve::at() for a vector.
HWY_INLINE Floats octave_at(const OctaveCurve& curve, Floats light) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> d;
  constexpr int kShift = 23 - OctaveCurve::kStepBits;
  const auto first = hn::Set(df, OctaveCurve::kFirst);
  const auto low =
      hn::Mul(hn::Set(df, curve.value[0]), hn::Mul(light, hn::Set(df, 1.f / OctaveCurve::kFirst)));
  const auto bits = hn::BitCast(d, hn::Min(hn::Max(light, first), hn::Set(df, OctaveCurve::kLast)));
  const auto i = hn::Sub(hn::ShiftRight<kShift>(bits),
                         hn::Set(d, (127 - OctaveCurve::kOctavesBelow) << OctaveCurve::kStepBits));
  const auto rest = hn::Mul(hn::ConvertTo(df, hn::And(bits, hn::Set(d, (1 << kShift) - 1))),
                            hn::Set(df, 1.f / (1 << kShift)));
  return hn::IfThenElse(hn::Lt(light, first), low, interpolated(curve.value, i, rest));
}

void deep_light_vectors(const DeepLight& light, float* red, float* green, float* blue, int width) {
  const hn::ScalableTag<float> df;
  const auto unit = hn::Set(df, 1.f / 65535);
  const auto weighed = [&](const float* weight, Floats v)
                           HWY_ATTR { return hn::Mul(v, hn::Set(df, *weight)); };
  const auto encoded = [&](Floats v) HWY_ATTR {
    return octave_at(light.code, hn::Min(hn::Max(v, hn::Zero(df)), hn::Set(df, 1.f)));
  };
  for (int x = 0; x < width; x += static_cast<int>(hn::Lanes(df))) {
    auto r = even_at(light.linear, hn::Mul(hn::LoadU(df, red + x), unit));
    auto g = even_at(light.linear, hn::Mul(hn::LoadU(df, green + x), unit));
    auto b = even_at(light.linear, hn::Mul(hn::LoadU(df, blue + x), unit));
    if (light.has_system) {
      const float* const w = light.luminance;
      const auto luminance = hn::Add(hn::Add(weighed(w, r), weighed(w + 1, g)), weighed(w + 2, b));
      const auto gain = octave_at(light.system, luminance);
      r = hn::Mul(r, gain), g = hn::Mul(g, gain), b = hn::Mul(b, gain);
    }
    if (light.has_tone) {
      const auto most = hn::Max(hn::Max(r, g), b);
      const auto gain = hn::Div(octave_at(light.tone, most), hn::Max(most, hn::Set(df, 1e-9f)));
      r = hn::Mul(r, gain), g = hn::Mul(g, gain), b = hn::Mul(b, gain);
    }
    if (light.has_gamut) {
      const float* const m = light.gamut;
      const auto rg = hn::Sub(r, g), gb = hn::Sub(g, b), rb = hn::Sub(r, b);
      r = hn::Sub(r, hn::Add(weighed(m + 1, rg), weighed(m + 2, rb)));
      g = hn::Add(g, hn::Sub(weighed(m + 3, rg), weighed(m + 5, gb)));
      b = hn::Add(b, hn::Add(weighed(m + 6, rb), weighed(m + 7, gb)));
    }
    hn::StoreU(encoded(r), df, red + x);
    hn::StoreU(encoded(g), df, green + x);
    hn::StoreU(encoded(b), df, blue + x);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(deep_light_vectors);

void deep_light_row(const DeepLight& light, float* r, float* g, float* b, int width) {
  // Whole vectors are converted, so the padding must hold valid colours.
  for (float* row : {r, g, b}) std::fill_n(row + width, kLightPadding, 0.f);
  HWY_DYNAMIC_DISPATCH(deep_light_vectors)(light, r, g, b, width);
}

}  // namespace lensd
#endif
