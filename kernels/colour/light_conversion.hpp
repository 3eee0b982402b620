// Selects the colours that are converted for an SDR display, and defines the functions of the conversion.
#pragma once

#include <array>

#include "core/image/colour_settings.hpp"
#include "core/image/picture.hpp"

namespace lensd {

/// Weights of R, G and B in BT.2020 luminance.
inline constexpr double kLuminance[3] = {0.2627, 0.6780, 0.0593};

/// Returns true if the YCbCr matrix alone does not yield the colours of an SDR display: for HDR, for linear
/// light, and for primaries that are converted to BT.709. Ignores ColourSpec::keep.
bool needs_linear_light(const ColourSpec& colour, const ColourSettings& settings);
/// Computes needs_linear_light() for the colours of a picture. Returns false for grey pictures and if the
/// colours are kept.
bool needs_linear_light(const PictureInfo& info, const ColourSettings& settings);

/// The functions of a conversion, in double precision. Light 1 is SDR white.
struct LightConversion {
  bool has_system, has_tone, has_gamut;
  std::array<double, 9> gamut;  ///< rows of the matrix to BT.709 with the saturation; a row's sum is 1

  LightConversion(const ColourSpec& colour, const ColourSettings& settings);

  /// Returns the light of a signal from 0 to 1. HLG: scene light, whose maximum is the display's peak.
  double linear(double signal) const;
  double system_gain(double scene_luminance) const;
  double tone(double light) const;
  /// Returns the signal from 0 to 1 for light that is at most 1.
  double code(double light) const;

 private:
  Transfer transfer_;
  DisplayTransfer display_;
  double peak_, knee_;
};

}  // namespace lensd
