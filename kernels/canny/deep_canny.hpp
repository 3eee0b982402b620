// canny on the CPU for 16-bit images.
#pragma once

#include "core/device/workers.hpp"
#include "core/image/view.hpp"
#include "kernels/canny/canny_math.hpp"

namespace lensd {

/// Map of canny_class(): one byte per pixel, and one more byte at both ends of each row.
struct CannyClasses {
  uint8_t* origin;
  std::ptrdiff_t pitch;
};

/// Returns the bytes of `memory` for deep_canny_band().
size_t deep_canny_bytes(int width);

/// Writes deep_canny_class() of the band's pixels, and zeros at the ends of the rows. `ring` is memory for a
/// RowRing of radius kCannyMaxReach.
void deep_canny_band(ConstImageRef in, const CannyClasses& classes, const CannyBlock& block, Band band,
                     uint8_t* ring, uint8_t* memory);

/// Writes the output like canny_output_row(), with 65535 as white.
void deep_canny_output(const uint8_t* classes, const uint16_t* in, uint16_t* out, int width,
                       CannyOutput output);

}  // namespace lensd
