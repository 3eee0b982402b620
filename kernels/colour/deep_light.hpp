// DisplayLight for 16-bit colours: converts coded R'G'B' to display colours in single precision.
//
//   signal ── linear ──▶ light ── system gain (HLG) ── tone gain (HDR) ── gamut ── encode ──▶ 0 … 65535
//
// See display_light.hpp for the functions and their sources. Operations are rounded as in IEEE 754, in the
// order of the code, on both backends.
#pragma once

#include <cmath>
#include <cstring>

#include "core/image/colour_settings.hpp"
#include "core/image/picture.hpp"

namespace lensd {

/// A function of values from 0 to 1 that is interpolated linearly between equidistant entries.
struct EvenCurve {
  static constexpr int kSteps = 4096;

  float value[kSteps + 2];  ///< the last entry repeats the one before it

  LENSD_HD float at(float v) const {
    const float place = v < 0.f ? 0.f : v > 1.f ? 1.f * kSteps : v * kSteps;
    const int i = static_cast<int>(place);
    return value[i] + (value[i + 1] - value[i]) * (place - static_cast<float>(i));
  }
};

/// A function of light from 0 to kLast, interpolated linearly. Entries are equidistant within each octave, so
/// that their distance is roughly proportional to the light.
struct OctaveCurve {
  static constexpr int kStepBits = 7, kSteps = 1 << kStepBits;
  static constexpr int kOctavesBelow = 20, kOctavesAbove = 6;
  static constexpr float kFirst = 0x1p-20f, kLast = 0x1p6f;
  static constexpr int kEntries = (kOctavesBelow + kOctavesAbove) * kSteps + 2;

  float value[kEntries];

  /// Returns the light at entry `i`.
  static double light_at(int i) {
    return std::ldexp(1.0 + i % kSteps / double{kSteps}, i / kSteps - kOctavesBelow);
  }

  /// Returns the function's value at `light`, which must be at least 0. Below kFirst, returns value[0] ·
  /// light / kFirst.
  LENSD_HD float at(float light) const {
    if (light < kFirst) return value[0] * (light * (1.f / kFirst));
    const float limited = light < kLast ? light : kLast;
    uint32_t bits;  // sign, exponent and fraction; the high bits give the entry
    memcpy(&bits, &limited, sizeof bits);
    constexpr int kShift = 23 - kStepBits;
    const int i = static_cast<int>(bits >> kShift) - ((127 - kOctavesBelow) << kStepBits);
    const float rest = static_cast<float>(bits & ((1u << kShift) - 1)) * (1.f / (1 << kShift));
    return value[i] + (value[i + 1] - value[i]) * rest;
  }
};

/// The tables, plain data for both backends. Light 1 is SDR white.
struct DeepLight {
  EvenCurve linear;    ///< light of a signal; HLG: scene light, whose maximum is the display's peak
  OctaveCurve system;  ///< HLG: gain by scene luminance
  OctaveCurve tone;    ///< HDR: SDR light by the light of the largest component
  OctaveCurve code;    ///< coded value, 0 … 65535, by SDR light
  float luminance[3];  ///< weights of BT.2020 luminance
  float gamut[9];  ///< rows of the matrix to BT.709; convert() derives the diagonal from a row sum of 1, so
                   ///< that grey stays grey
  uint32_t has_system, has_tone, has_gamut;

  static void make(const ColourSpec& colour, const ColourSettings& settings, DeepLight& out);

  LENSD_HD float encode(float light) const { return code.at(light < 0.f ? 0.f : light > 1.f ? 1.f : light); }

  /// Replaces coded R, G and B, where white is 65535, with display colours.
  LENSD_HD void convert(float& red, float& green, float& blue) const {
    constexpr float kUnit = 1.f / 65535;
    float r = linear.at(red * kUnit), g = linear.at(green * kUnit), b = linear.at(blue * kUnit);
    if (has_system) {
      const float gain = system.at((r * luminance[0] + g * luminance[1]) + b * luminance[2]);
      r = r * gain, g = g * gain, b = b * gain;
    }
    if (has_tone) {
      const float most = r > g ? (r > b ? r : b) : (g > b ? g : b);
      const float gain = tone.at(most) / (most > 1e-9f ? most : 1e-9f);
      r = r * gain, g = g * gain, b = b * gain;
    }
    if (has_gamut) {
      const float rg = r - g, gb = g - b, rb = r - b;
      const float* m = gamut;
      r = r - (m[1] * rg + m[2] * rb), g = g + (m[3] * rg - m[5] * gb), b = b + (m[6] * rb + m[7] * gb);
    }
    red = encode(r), green = encode(g), blue = encode(b);
  }
};

}  // namespace lensd
