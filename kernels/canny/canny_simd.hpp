// SIMD loops of canny on the CPU, one row per call.
#pragma once

#include <cstdint>

#include "kernels/canny/canny_math.hpp"

namespace lensd {

/// Arguments of canny_gradient_row(), which computes dx, dy and magnitude. rows[aperture / 2 + j] is the
/// input row j rows below the computed row, with aperture / 2 pixels of border and a vector of unspecified
/// pixels after it. `smooth` and `derive` are temporary memory, each for width + 6
/// values and one more vector.
struct CannyGradientRow {
  const uint8_t* rows[2 * kCannyMaxReach + 1];
  int16_t *smooth, *derive;
  int16_t *dx, *dy;
  int32_t* magnitude;
  int width;
};
void canny_gradient_row(const CannyGradientRow& row, const CannyBlock& block);

/// Writes canny_class() of a row's pixels to `map`. `above`, `at` and `below` are rows of magnitudes with a
/// zero at both ends.
void canny_suppress_row(const int32_t* above, const int32_t* at, const int32_t* below, const int16_t* dx,
                        const int16_t* dy, uint8_t* map, int width, const CannyBlock& block);

/// Writes 255 where `map` is 2; elsewhere 0 (edges) or half the input (overlay).
void canny_output_row(const uint8_t* map, const uint8_t* in, uint8_t* out, int width, CannyOutput output);

}  // namespace lensd
