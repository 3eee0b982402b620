// From coded R'G'B' to display colours: HDR tone mapping and the conversion of BT.2020 and P3 primaries.
//
//   12-bit codes ── linear ──▶ light ── system gain (HLG) ── tone gain (HDR) ── gamut ── encode ──▶ 8 bits
//
// PQ: EOTF of BT.2100. HLG: inverse OETF and OOTF of BT.2100 for a display of 1000 cd/m², system gamma 1.2.
// The tone curve is the EETF of BT.2390 (section 5.4.1, black level 0) from the source's peak to SDR white,
// which is 203 cd/m² (BT.2408). It is applied to the largest component; the others are scaled by the same
// factor, which keeps the hue. A matrix converts light of other primaries to BT.709. The matrix also contains
// ColourSettings::saturation. Components outside 0 to 1 are clipped. HDR is encoded as sRGB (IEC 61966-2-1)
// or for BT.1886, linear light as sRGB. SDR keeps its transfer function: sRGB if tagged as sRGB, else the
// OETF of BT.2020, which is also that of BT.601 and BT.709.
#pragma once

#include <bit>
#include <cstdint>

#include "core/image/colour_settings.hpp"
#include "core/image/picture.hpp"

namespace lensd {

/// A function of light, interpolated linearly. Its intervals grow with the light: they are one unit long up
/// to 2 · kSteps; above that, there are kSteps intervals per octave.
struct LightCurve {
  static constexpr int kStepBits = 5, kSteps = 1 << kStepBits;
  static constexpr int kEntries = kSteps * 18 + 1;  ///< for light below 1 << 22

  uint32_t value[kEntries];

  /// Returns the light at entry `i`.
  static constexpr uint32_t light_at(int i) {
    if (i < 2 * kSteps) return static_cast<uint32_t>(i);
    const int octave = i / kSteps - 1;
    return static_cast<uint32_t>(kSteps + i % kSteps) << octave;
  }

  LENSD_HD uint32_t at(uint32_t light) const {
#ifdef __CUDA_ARCH__
    const int octave = max(31 - __clz(static_cast<int>(light)) - kStepBits, 0);
#else
    const int octave = std::bit_width(light) > kStepBits + 1 ? std::bit_width(light) - kStepBits - 1 : 0;
#endif
    const int i = octave * kSteps + static_cast<int>(light >> octave);
    const int rest = static_cast<int>(light & ((1u << octave) - 1));
    const int here = static_cast<int>(value[i]), next = static_cast<int>(value[i + 1]);
    return static_cast<uint32_t>(here + (((next - here) * rest) >> octave));
  }
};

/// The tables, plain data for both backends. Light is in 1/65536 of SDR white.
struct DisplayLight {
  static constexpr int kCodeBits = 12, kCodes = 1 << kCodeBits;
  static constexpr uint32_t kWhite = 65536;
  static constexpr int kSystemBits = 13, kMatrixBits = 13;
  static constexpr int kDark = 4096;  ///< light below this is encoded with full resolution
  static constexpr int kCoarse = (static_cast<int>(kWhite) - kDark) / 16 + 1;

  uint32_t linear[kCodes];        ///< light of a code; HLG: scene light, whose maximum is the display's peak
  LightCurve system;              ///< HLG: gain in 1/8192 by scene luminance
  LightCurve tone;                ///< HDR: SDR light by the light of the largest component
  int32_t luminance[3];           ///< BT.2020 luminance weights in 1/8192
  int32_t gamut[9];               ///< rows of the matrix to BT.709, in 1/8192; a row's sum is 8192
  uint8_t code[kDark + kCoarse];  ///< 8-bit code by light below kDark, then by light / 16
  uint32_t has_system, has_tone, has_gamut;

  static void make(const ColourSpec& colour, const ColourSettings& settings, DisplayLight& out);

  LENSD_HD uint32_t encode(int32_t light) const {
    const int32_t white = static_cast<int32_t>(kWhite), v = light < 0 ? 0 : light > white ? white : light;
    return code[v < kDark ? v : v / 16 + kDark - kDark / 16];
  }

  /// Returns R | G << 8 | B << 16 for codes of kCodeBits bits.
  LENSD_HD uint32_t pixel(uint32_t red, uint32_t green, uint32_t blue) const {
    uint32_t r = linear[red], g = linear[green], b = linear[blue];
    if (has_system) {
      const uint32_t y = (r * static_cast<uint32_t>(luminance[0]) + g * static_cast<uint32_t>(luminance[1]) +
                          b * static_cast<uint32_t>(luminance[2])) >>
                         kMatrixBits;
      const uint32_t gain = system.at(y);
      r = (r * gain) >> kSystemBits, g = (g * gain) >> kSystemBits, b = (b * gain) >> kSystemBits;
    }
    if (has_tone) {
      const uint32_t most = r > g ? (r > b ? r : b) : (g > b ? g : b);
      // Division, product and sum are rounded as in IEEE 754 on both backends.
      const float gain = static_cast<float>(tone.at(most)) / static_cast<float>(most > 0 ? most : 1);
      const auto scaled = [gain](uint32_t v) {
        return static_cast<uint32_t>(static_cast<int32_t>(static_cast<float>(v) * gain + 0.5f));
      };
      r = scaled(r), g = scaled(g), b = scaled(b);
    }
    const auto ri = static_cast<int32_t>(r), gi = static_cast<int32_t>(g), bi = static_cast<int32_t>(b);
    if (!has_gamut) return encode(ri) | encode(gi) << 8 | encode(bi) << 16;
    constexpr int32_t kHalf = 1 << (kMatrixBits - 1);
    const auto row = [&](const int32_t* m) {
      return encode((m[0] * ri + m[1] * gi + m[2] * bi + kHalf) >> kMatrixBits);
    };
    return row(gamut) | row(gamut + 3) << 8 | row(gamut + 6) << 16;
  }
};

}  // namespace lensd
