// The CPU side of colour: one stored row at a time into a buffer or, where the picture is upright, into the
// image.
#pragma once

#include "core/image/picture.hpp"
#include "core/image/view.hpp"
#include "kernels/colour/colour_math.hpp"

namespace lensd {

/// Bytes of worker memory for one stored row of this width.
size_t colour_worker_bytes(int width);

/// Converts stored row `y` to RGBA8, or Gray8 for grey pictures. `worker` is private, colour_worker_bytes()
/// long.
void colour_row(const PictureRef& picture, const ColourMatrix& matrix, int y, uint8_t* out, uint8_t* worker);

/// The general form of the above: any layout, in plain loops.
void colour_row_general(const PictureRef& picture, const ColourMatrix& matrix, int y, uint8_t* out,
                        uint8_t* worker);

/// True for 8-bit YUV without alpha and with chroma halved across, which colour_row_halved() takes: 4:2:0 and
/// 4:2:2, planar, semi-planar and packed.
bool is_halved_8bit(const PictureFormat& format);
void colour_row_halved(const PictureRef& picture, const ColourMatrix& matrix, int y, uint8_t* out,
                       uint8_t* worker);

}  // namespace lensd
