// DisplayLight::pixel() for whole vectors.
#include <algorithm>

#include "kernels/colour/colour_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/colour/light_row.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Signed = hn::ScalableTag<int32_t>;
using Unsigned = hn::RebindToUnsigned<Signed>;
using Ints = hn::Vec<Signed>;
using Words = hn::Vec<Unsigned>;

HWY_INLINE Ints ints(Words v) {
  return hn::BitCast(Signed(), v);
}
HWY_INLINE Words words(Ints v) {
  return hn::BitCast(Unsigned(), v);
}

/// Does the same as LightCurve::at() for a vector. The exponent of the light as a float gives the octave.
HWY_INLINE Words value_at(const LightCurve& curve, Words light) {
  const Signed d;
  const Unsigned du;
  const hn::RebindToFloat<Signed> df;
  constexpr int kExponentOfFirst = 127 + LightCurve::kStepBits;
  const auto exponent = hn::ShiftRight<23>(hn::BitCast(d, hn::ConvertTo(df, ints(light))));
  const auto octave = hn::Max(hn::Sub(exponent, hn::Set(d, kExponentOfFirst)), hn::Zero(d));
  const auto step = hn::Shr(light, words(octave));
  const auto at = hn::Add(hn::ShiftLeft<LightCurve::kStepBits>(octave), ints(step));
  const auto rest = ints(hn::Sub(light, hn::Shl(step, words(octave))));
  const auto* values = reinterpret_cast<const int32_t*>(curve.value);
  const auto here = hn::GatherIndex(d, values, at), next = hn::GatherIndex(d, values + 1, at);
  const auto product = hn::Mul(hn::Sub(next, here), rest);
  return hn::BitCast(du, hn::Add(here, hn::Shr(product, octave)));
}

HWY_INLINE Words encode(const DisplayLight& light, Ints v) {
  const Signed d;
  constexpr int kDark = DisplayLight::kDark;
  v = hn::Min(hn::Max(v, hn::Zero(d)), hn::Set(d, static_cast<int32_t>(DisplayLight::kWhite)));
  const auto coarse = hn::Add(hn::ShiftRight<4>(v), hn::Set(d, kDark - kDark / 16));
  const auto at = hn::IfThenElse(hn::Lt(v, hn::Set(d, kDark)), v, coarse);
  const auto four = hn::GatherOffset(d, reinterpret_cast<const int32_t*>(light.code), at);
  return words(hn::And(four, hn::Set(d, 0xff)));
}

void light_vectors(const DisplayLight& light, int32_t* const* codes, int width, uint32_t* out) {
  const Signed d;
  const Unsigned du;
  const hn::RebindToFloat<Signed> df;
  const auto* linear = reinterpret_cast<const int32_t*>(light.linear);
  const auto weigh = [&](const int32_t* weights, Words r, Words g, Words b) HWY_ATTR {
    const auto weight = [&](int i) HWY_ATTR { return hn::Set(du, static_cast<uint32_t>(weights[i])); };
    return hn::Add(hn::Add(hn::Mul(r, weight(0)), hn::Mul(g, weight(1))), hn::Mul(b, weight(2)));
  };
  constexpr int kSystemBits = DisplayLight::kSystemBits;
  constexpr int kMatrixBits = DisplayLight::kMatrixBits;
  for (int x = 0; x < width; x += static_cast<int>(hn::Lanes(d))) {
    auto r = words(hn::GatherIndex(d, linear, hn::LoadU(d, codes[0] + x)));
    auto g = words(hn::GatherIndex(d, linear, hn::LoadU(d, codes[1] + x)));
    auto b = words(hn::GatherIndex(d, linear, hn::LoadU(d, codes[2] + x)));
    if (light.has_system) {
      const auto gain = value_at(light.system, hn::ShiftRight<kMatrixBits>(weigh(light.luminance, r, g, b)));
      r = hn::ShiftRight<kSystemBits>(hn::Mul(r, gain));
      g = hn::ShiftRight<kSystemBits>(hn::Mul(g, gain));
      b = hn::ShiftRight<kSystemBits>(hn::Mul(b, gain));
    }
    if (light.has_tone) {
      const auto most = hn::Max(hn::Max(r, g), b);
      const auto mapped = hn::ConvertTo(df, ints(value_at(light.tone, most)));
      const auto gain = hn::Div(mapped, hn::ConvertTo(df, ints(hn::Max(most, hn::Set(du, 1)))));
      const auto scale = [&](Words v) HWY_ATTR {
        const auto product = hn::Mul(hn::ConvertTo(df, ints(v)), gain);
        return words(hn::ConvertTo(d, hn::Add(product, hn::Set(df, 0.5f))));
      };
      r = scale(r), g = scale(g), b = scale(b);
    }
    if (light.has_gamut) {
      const auto half = hn::Set(du, 1u << (kMatrixBits - 1));
      const auto row = [&](int first) HWY_ATTR {
        const auto sum = hn::Add(weigh(light.gamut + first, r, g, b), half);
        return words(hn::ShiftRight<kMatrixBits>(ints(sum)));
      };
      const auto red = row(0), green = row(3), blue = row(6);
      r = red, g = green, b = blue;
    }
    const auto pixel = hn::Or(hn::Or(encode(light, ints(r)), hn::ShiftLeft<8>(encode(light, ints(g)))),
                              hn::ShiftLeft<16>(encode(light, ints(b))));
    hn::StoreU(hn::Or(pixel, hn::Set(du, 0xff000000u)), du, out + x);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(light_vectors);

void light_row(const DisplayLight& light, int32_t* const* codes, int width, uint32_t* out) {
  // Whole vectors are converted, so the padding must hold valid indexes of `linear`.
  for (int c = 0; c < 3; ++c) std::fill_n(codes[c] + width, kLightPadding, 0);
  HWY_DYNAMIC_DISPATCH(light_vectors)(light, codes, width, out);
}

}  // namespace lensd
#endif
