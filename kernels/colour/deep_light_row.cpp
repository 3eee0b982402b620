// DeepLight::convert() for whole vectors. The operations and their order are the same, so the bytes are the
// same.
#include <algorithm>
#include <cstdint>

#include "kernels/colour/colour_simd.hpp"
#include "kernels/colour/table_reads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/colour/deep_light_row.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Float = hn::ScalableTag<float>;
using Signed = hn::RebindToSigned<Float>;
using Floats = hn::Vec<Float>;
using Ints = hn::Vec<Signed>;

/// Returns value[i] + (value[i + 1] − value[i]) · rest. `entries`: the two entries of each lane.
HWY_INLINE Floats interpolated(const EntryPair* entries, Floats rest) {
  Floats here, next;
  hn::LoadInterleaved2(Float(), reinterpret_cast<const float*>(entries), here, next);
  return hn::Add(here, hn::Mul(hn::Sub(next, here), rest));
}

/// Position on an EvenCurve: index of an entry, and the fraction of the step to the next one.
struct EvenPlace {
  Ints at;
  Floats rest;

  HWY_INLINE explicit EvenPlace(Floats v) {
    const Float df;
    const auto steps = hn::Set(df, static_cast<float>(EvenCurve::kSteps));
    const auto place = hn::Mul(hn::Min(hn::Max(v, hn::Zero(df)), hn::Set(df, 1.f)), steps);
    at = hn::ConvertTo(Signed(), place);
    rest = hn::Sub(place, hn::ConvertTo(df, at));
  }
};

/// Position on an OctaveCurve, in the same form as EvenPlace.
struct OctavePlace {
  Ints at;
  Floats rest;

  HWY_INLINE explicit OctavePlace(Floats light) {
    const Float df;
    const Signed d;
    constexpr int kShift = 23 - OctaveCurve::kStepBits;
    const auto first = hn::Set(df, OctaveCurve::kFirst), last = hn::Set(df, OctaveCurve::kLast);
    const auto bits = hn::BitCast(d, hn::Min(hn::Max(light, first), last));
    at = hn::Sub(hn::ShiftRight<kShift>(bits),
                 hn::Set(d, (127 - OctaveCurve::kOctavesBelow) << OctaveCurve::kStepBits));
    rest = hn::Mul(hn::ConvertTo(df, hn::And(bits, hn::Set(d, (1 << kShift) - 1))),
                   hn::Set(df, 1.f / (1 << kShift)));
  }
};

/// Computes OctaveCurve::at(). `entries`: the curve's entries at OctavePlace(light).
HWY_INLINE Floats octave_value(const OctaveCurve& curve, Floats light, const EntryPair* entries) {
  const Float df;
  const auto first = hn::Set(df, OctaveCurve::kFirst);
  const auto low =
      hn::Mul(hn::Set(df, curve.value[0]), hn::Mul(light, hn::Set(df, 1.f / OctaveCurve::kFirst)));
  return hn::IfThenElse(hn::Lt(light, first), low, interpolated(entries, OctavePlace(light).rest));
}

/// Part of a row: the colours, which are converted in place, and intermediate results.
struct DeepPart {
  float* rgb[3];
  HWY_ALIGN float light[kLightPart];
  HWY_ALIGN int32_t at[3][kLightPart];
  HWY_ALIGN EntryPair entries[3][kLightPart];

  /// Calls function(r, g, b, x) for vectors of `n` pixels.
  template <class Function>
  HWY_INLINE void each(int n, const Function& function) {
    const Float df;
    for (int x = 0; x < n; x += static_cast<int>(hn::Lanes(df)))
      function(hn::LoadU(df, rgb[0] + x), hn::LoadU(df, rgb[1] + x), hn::LoadU(df, rgb[2] + x), x);
  }
  HWY_INLINE void store(int x, Floats r, Floats g, Floats b) {
    const Float df;
    hn::StoreU(r, df, rgb[0] + x), hn::StoreU(g, df, rgb[1] + x), hn::StoreU(b, df, rgb[2] + x);
  }
  HWY_INLINE void store_place(int x, Floats key) {
    hn::Store(key, Float(), light + x);
    hn::Store(OctavePlace(key).at, Signed(), at[0] + x);
  }
  /// Reads the curve's entries at the positions `at` of the three colours.
  void read(const float* curve, int n) {
    for (int c = 0; c < 3; ++c) read_pairs(curve, at[c], n, entries[c]);
  }
};

void apply_linear(const DeepLight& light, DeepPart& part, int n) {
  const Float df;
  const auto unit = hn::Set(df, 1.f / 65535);
  part.each(n, [&](Floats r, Floats g, Floats b, int x) HWY_ATTR {
    const Floats rgb[3] = {hn::Mul(r, unit), hn::Mul(g, unit), hn::Mul(b, unit)};
    for (int c = 0; c < 3; ++c) hn::Store(EvenPlace(rgb[c]).at, Signed(), part.at[c] + x);
  });
  part.read(light.linear.value, n);
  part.each(n, [&](Floats r, Floats g, Floats b, int x) HWY_ATTR {
    part.store(x, interpolated(part.entries[0] + x, EvenPlace(hn::Mul(r, unit)).rest),
               interpolated(part.entries[1] + x, EvenPlace(hn::Mul(g, unit)).rest),
               interpolated(part.entries[2] + x, EvenPlace(hn::Mul(b, unit)).rest));
  });
}

HWY_INLINE Floats weighed(const float* weight, Floats v) {
  return hn::Mul(v, hn::Set(Float(), *weight));
}

void apply_system(const DeepLight& light, DeepPart& part, int n) {
  const float* const w = light.luminance;
  part.each(n, [&](Floats r, Floats g, Floats b, int x) HWY_ATTR {
    part.store_place(x, hn::Add(hn::Add(weighed(w, r), weighed(w + 1, g)), weighed(w + 2, b)));
  });
  read_pairs(light.system.value, part.at[0], n, part.entries[0]);
  part.each(n, [&](Floats r, Floats g, Floats b, int x) HWY_ATTR {
    const auto luminance = hn::Load(Float(), part.light + x);
    const auto gain = octave_value(light.system, luminance, part.entries[0] + x);
    part.store(x, hn::Mul(r, gain), hn::Mul(g, gain), hn::Mul(b, gain));
  });
}

void apply_tone(const DeepLight& light, DeepPart& part, int n) {
  part.each(n, [&](Floats r, Floats g, Floats b, int x)
                   HWY_ATTR { part.store_place(x, hn::Max(hn::Max(r, g), b)); });
  read_pairs(light.tone.value, part.at[0], n, part.entries[0]);
  part.each(n, [&](Floats r, Floats g, Floats b, int x) HWY_ATTR {
    const auto most = hn::Load(Float(), part.light + x);
    const auto gain =
        hn::Div(octave_value(light.tone, most, part.entries[0] + x), hn::Max(most, hn::Set(Float(), 1e-9f)));
    part.store(x, hn::Mul(r, gain), hn::Mul(g, gain), hn::Mul(b, gain));
  });
}

void encode(const DeepLight& light, DeepPart& part, int n) {
  const Float df;
  const float* const m = light.gamut;
  const auto limited = [&](Floats v) HWY_ATTR { return hn::Min(hn::Max(v, hn::Zero(df)), hn::Set(df, 1.f)); };
  part.each(n, [&](Floats r, Floats g, Floats b, int x) HWY_ATTR {
    if (light.has_gamut) {
      const auto rg = hn::Sub(r, g), gb = hn::Sub(g, b), rb = hn::Sub(r, b);
      r = hn::Sub(r, hn::Add(weighed(m + 1, rg), weighed(m + 2, rb)));
      g = hn::Add(g, hn::Sub(weighed(m + 3, rg), weighed(m + 5, gb)));
      b = hn::Add(b, hn::Add(weighed(m + 6, rb), weighed(m + 7, gb)));
    }
    const Floats rgb[3] = {limited(r), limited(g), limited(b)};
    for (int c = 0; c < 3; ++c) hn::Store(OctavePlace(rgb[c]).at, Signed(), part.at[c] + x);
    part.store(x, rgb[0], rgb[1], rgb[2]);
  });
  part.read(light.code.value, n);
  part.each(n, [&](Floats r, Floats g, Floats b, int x) HWY_ATTR {
    part.store(x, octave_value(light.code, r, part.entries[0] + x),
               octave_value(light.code, g, part.entries[1] + x),
               octave_value(light.code, b, part.entries[2] + x));
  });
}

void deep_light_vectors(const DeepLight& light, float* red, float* green, float* blue, int width) {
  DeepPart part;
  for (int x = 0; x < width; x += kLightPart) {
    const int n = whole_vectors(std::min(kLightPart, width - x));
    part.rgb[0] = red + x, part.rgb[1] = green + x, part.rgb[2] = blue + x;
    apply_linear(light, part, n);
    if (light.has_system) apply_system(light, part, n);
    if (light.has_tone) apply_tone(light, part, n);
    encode(light, part, n);
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
