// DisplayLight::pixel() for whole vectors.
#include <algorithm>

#include "kernels/colour/colour_simd.hpp"
#include "kernels/colour/table_reads.hpp"

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

/// Position on a LightCurve: octave, index of an entry, and distance from that entry. The exponent of the
/// light as a float gives the octave.
struct CurvePlace {
  Ints octave, at, rest;

  HWY_INLINE explicit CurvePlace(Words light) {
    const Signed d;
    const hn::RebindToFloat<Signed> df;
    constexpr int kExponentOfFirst = 127 + LightCurve::kStepBits;
    const auto exponent = hn::ShiftRight<23>(hn::BitCast(d, hn::ConvertTo(df, ints(light))));
    octave = hn::Max(hn::Sub(exponent, hn::Set(d, kExponentOfFirst)), hn::Zero(d));
    const auto step = hn::Shr(light, words(octave));
    at = hn::Add(hn::ShiftLeft<LightCurve::kStepBits>(octave), ints(step));
    rest = ints(hn::Sub(light, hn::Shl(step, words(octave))));
  }
  /// Computes LightCurve::at().
  HWY_INLINE Words value(const EntryPair* entries) const {
    Words here, next;
    hn::LoadInterleaved2(Unsigned(), &entries->here, here, next);
    const auto product = hn::Mul(ints(hn::Sub(next, here)), rest);
    return words(hn::Add(ints(here), hn::Shr(product, octave)));
  }
};

/// Returns the index of light `v` in DisplayLight::code.
HWY_INLINE Ints code_place(Ints v) {
  const Signed d;
  constexpr int kDark = DisplayLight::kDark;
  v = hn::Min(hn::Max(v, hn::Zero(d)), hn::Set(d, static_cast<int32_t>(DisplayLight::kWhite)));
  const auto coarse = hn::Add(hn::ShiftRight<4>(v), hn::Set(d, kDark - kDark / 16));
  return hn::IfThenElse(hn::Lt(v, hn::Set(d, kDark)), v, coarse);
}

HWY_INLINE Words weighed(const int32_t* weights, Words r, Words g, Words b) {
  const auto weight = [&](int i) HWY_ATTR { return hn::Set(Unsigned(), static_cast<uint32_t>(weights[i])); };
  return hn::Add(hn::Add(hn::Mul(r, weight(0)), hn::Mul(g, weight(1))), hn::Mul(b, weight(2)));
}

/// Intermediate results for part of a row.
struct LightPart {
  HWY_ALIGN uint32_t red[kLightPart], green[kLightPart], blue[kLightPart], light[kLightPart];
  HWY_ALIGN int32_t at[3][kLightPart];
  HWY_ALIGN EntryPair entries[kLightPart];

  /// Calls function(r, g, b, x) for vectors of `n` pixels.
  template <class Function>
  HWY_INLINE void each(int n, const Function& function) {
    const Unsigned du;
    for (int x = 0; x < n; x += static_cast<int>(hn::Lanes(du)))
      function(hn::Load(du, red + x), hn::Load(du, green + x), hn::Load(du, blue + x), x);
  }
  HWY_INLINE void store(int x, Words r, Words g, Words b) {
    const Unsigned du;
    hn::Store(r, du, red + x), hn::Store(g, du, green + x), hn::Store(b, du, blue + x);
  }
  HWY_INLINE void store_place(int x, Words key) {
    hn::Store(key, Unsigned(), light + x);
    hn::Store(CurvePlace(key).at, Signed(), at[0] + x);
  }
  HWY_INLINE Words value(int x) const {
    return CurvePlace(hn::Load(Unsigned(), light + x)).value(entries + x);
  }
};

void apply_system(const DisplayLight& light, LightPart& part, int n) {
  constexpr int kBits = DisplayLight::kSystemBits;
  part.each(n, [&](Words r, Words g, Words b, int x) HWY_ATTR {
    part.store_place(x, hn::ShiftRight<DisplayLight::kMatrixBits>(weighed(light.luminance, r, g, b)));
  });
  read_pairs(light.system.value, part.at[0], n, part.entries);
  part.each(n, [&](Words r, Words g, Words b, int x) HWY_ATTR {
    const auto gain = part.value(x);
    part.store(x, hn::ShiftRight<kBits>(hn::Mul(r, gain)), hn::ShiftRight<kBits>(hn::Mul(g, gain)),
               hn::ShiftRight<kBits>(hn::Mul(b, gain)));
  });
}

void apply_tone(const DisplayLight& light, LightPart& part, int n) {
  const Signed d;
  const hn::RebindToFloat<Signed> df;
  part.each(
      n, [&](Words r, Words g, Words b, int x) HWY_ATTR { part.store_place(x, hn::Max(hn::Max(r, g), b)); });
  read_pairs(light.tone.value, part.at[0], n, part.entries);
  part.each(n, [&](Words r, Words g, Words b, int x) HWY_ATTR {
    const auto most = hn::Max(hn::Load(Unsigned(), part.light + x), hn::Set(Unsigned(), 1));
    const auto gain = hn::Div(hn::ConvertTo(df, ints(part.value(x))), hn::ConvertTo(df, ints(most)));
    const auto scale = [&](Words v) HWY_ATTR {
      const auto product = hn::Mul(hn::ConvertTo(df, ints(v)), gain);
      return words(hn::ConvertTo(d, hn::Add(product, hn::Set(df, 0.5f))));
    };
    part.store(x, scale(r), scale(g), scale(b));
  });
}

void find_codes(const DisplayLight& light, LightPart& part, int n) {
  constexpr int kBits = DisplayLight::kMatrixBits;
  const auto half = hn::Set(Unsigned(), 1u << (kBits - 1));
  part.each(n, [&](Words r, Words g, Words b, int x) HWY_ATTR {
    Ints rgb[3] = {ints(r), ints(g), ints(b)};
    if (light.has_gamut)
      for (int c = 0; c < 3; ++c)
        rgb[c] = hn::ShiftRight<kBits>(ints(hn::Add(weighed(light.gamut + 3 * c, r, g, b), half)));
    for (int c = 0; c < 3; ++c) hn::Store(code_place(rgb[c]), Signed(), part.at[c] + x);
  });
}

void light_vectors(const DisplayLight& light, int32_t* const* codes, int width, uint32_t* out) {
  LightPart part;
  for (int x = 0; x < width; x += kLightPart) {
    const int pixels = std::min(kLightPart, width - x);
    const int n = whole_vectors(pixels);
    read_entries(light.linear, codes[0] + x, n, part.red);
    read_entries(light.linear, codes[1] + x, n, part.green);
    read_entries(light.linear, codes[2] + x, n, part.blue);
    if (light.has_system) apply_system(light, part, n);
    if (light.has_tone) apply_tone(light, part, n);
    find_codes(light, part, n);
    read_pixels(light.code, part.at[0], part.at[1], part.at[2], pixels, out + x);
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
