// The values that the pixel probe derives from a pixel.
#pragma once

#include <array>
#include <string>

#include "core/image/picture.hpp"
#include "core/image/view.hpp"

namespace lensd::ui {

/// Returns full-range Y'CbCr with the weights of `matrix`, on the scale of the pixel's samples: 0 to 255 with
/// neutral chroma at 128, or 0 to 65535 with 32768 if `deep`.
std::array<long, 3> ycbcr_of(const Rgba16& pixel, bool deep, YuvMatrix matrix);

/// Returns the title of these values, for example "YCbCr 709".
const char* ycbcr_title(YuvMatrix matrix);

/// Returns "#" and R, G and B with two hexadecimal digits each, or four if `deep`. Grey pixels have one
/// number.
std::string hex_of(const Rgba16& pixel, bool gray, bool deep);

}  // namespace lensd::ui
