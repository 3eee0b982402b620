// Settings of the conversion of HDR and wide-gamut sources to SDR. They can be changed while the video plays;
// each change needs a new plan. See kernels/colour/display_light.hpp for their effect.
#pragma once

#include <cstdint>

namespace lensd {

struct FilterSchema;

/// Transfer function of the display for converted HDR: sRGB (IEC 61966-2-1), or BT.1886 with black level 0,
/// which is a power function with exponent 2.4.
enum class DisplayTransfer : uint8_t { srgb, bt1886 };

struct ColourSettings {
  int peak = 0;           ///< PQ: the brightest luminance that is not clipped, in cd/m²; 0: ColourSpec::peak
  double knee = 0.5;      ///< where highlights begin to be compressed, see tone_mapped()
  double saturation = 1;  ///< saturation of converted HDR; 0: grey, 1: unchanged
  DisplayTransfer display = DisplayTransfer::srgb;
  bool bt601 = false;  ///< also convert colours with the primaries of BT.601
  bool operator==(const ColourSettings&) const = default;
};

/// Returns the declaration of the settings, for the configuration, the control protocol and the panel.
const FilterSchema& colour_schema();

}  // namespace lensd
