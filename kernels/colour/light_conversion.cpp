#include "kernels/colour/light_conversion.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/colour/transfer.hpp"

namespace lensd {
namespace {

using RowMajor = std::array<double, 9>;

/// Returns the matrix to BT.709 in linear light. The matrix from BT.2020 is the matrix of BT.2087. The other
/// matrices are derived from the primaries of SMPTE EG 432-1 (P3), SMPTE 170M and BT.470 BG.
RowMajor to_bt709(Primaries primaries) {
  switch (primaries) {
    case Primaries::bt2020:
      return {1.6605, -0.5876, -0.0728, -0.1246, 1.1329, -0.0083, -0.0182, -0.1006, 1.1187};
    case Primaries::p3:
      return {1.2249, -0.2249, 0, -0.0421, 1.0421, 0, -0.0196, -0.0786, 1.0983};
    case Primaries::bt601_525:
      return {0.9395, 0.0502, 0.0103, 0.0178, 0.9658, 0.0164, -0.0016, -0.0044, 1.0060};
    case Primaries::bt601_625:
      return {1.0440, -0.0440, 0, 0, 1, 0, 0, 0.0118, 0.9882};
    default:
      return {1, 0, 0, 0, 1, 0, 0, 0, 1};
  }
}

/// Returns `matrix`, followed by a saturation around the luminance of BT.709.
RowMajor saturated(const RowMajor& matrix, double saturation) {
  constexpr double kWeights[3] = {0.2126, 0.7152, 0.0722};
  RowMajor out;
  for (size_t column = 0; column < 3; ++column) {
    double luminance = 0;
    for (size_t row = 0; row < 3; ++row) luminance += kWeights[row] * matrix[3 * row + column];
    for (size_t row = 0; row < 3; ++row)
      out[3 * row + column] = luminance + saturation * (matrix[3 * row + column] - luminance);
  }
  return out;
}

}  // namespace

bool needs_linear_light(const ColourSpec& colour, const ColourSettings& settings) {
  return colour.converted(settings.bt601);
}

bool needs_linear_light(const PictureInfo& info, const ColourSettings& settings) {
  return info.format.model != ColourModel::gray && !info.colour.keep &&
         needs_linear_light(info.colour, settings);
}

LightConversion::LightConversion(const ColourSpec& colour, const ColourSettings& settings)
    : transfer_(colour.transfer), display_(settings.display), knee_(settings.knee) {
  has_system = transfer_ == Transfer::hlg, has_tone = is_hdr(transfer_);
  peak_ = has_system ? kHlgPeak : settings.peak > 0 ? settings.peak : colour.peak;
  const bool as_bt709 =
      colour.primaries == Primaries::bt709 || (is_bt601(colour.primaries) && !settings.bt601);
  gamut = to_bt709(as_bt709 ? Primaries::bt709 : colour.primaries);
  const bool changed = has_tone && settings.saturation != 1;
  if (changed) gamut = saturated(gamut, settings.saturation);
  has_gamut = changed || !as_bt709;
}

double LightConversion::linear(double signal) const {
  if (transfer_ == Transfer::hlg) return hlg_to_scene(signal) * kHlgPeak / kSdrWhite;
  if (transfer_ == Transfer::linear) return signal;
  if (transfer_ == Transfer::srgb) return light_of_srgb(signal);
  return transfer_ == Transfer::pq ? pq_to_luminance(signal) / kSdrWhite : bt2020_to_scene(signal);
}

double LightConversion::system_gain(double scene_luminance) const {
  return std::pow(std::min(1.0, scene_luminance * kSdrWhite / kHlgPeak), kHlgGamma - 1);
}

double LightConversion::tone(double light) const {
  return has_tone ? tone_mapped(light * kSdrWhite, peak_, knee_) / kSdrWhite : std::min(1.0, light);
}

double LightConversion::code(double light) const {
  if (transfer_ == Transfer::linear || transfer_ == Transfer::srgb) return srgb_of_light(light);
  if (!has_tone) return scene_to_bt2020(light);
  return display_ == DisplayTransfer::srgb ? srgb_of_light(light) : bt1886_of_light(light);
}

}  // namespace lensd
