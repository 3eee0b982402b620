// The SIMD rows of corner detection on the CPU. Pointers may be unaligned; every row has kCornerSlack values
// behind its end that vectors may read and write.
#pragma once

#include <cstdint>

#include "kernels/corners/corners_math.hpp"

namespace lensd {

inline constexpr int kCornerSlack = 64;

/// Sobel derivatives of a row, dx in the low and dy in the high half of each value. The rows of pixels have
/// one pixel of border.
void corner_gradient_row(const uint8_t* above, const uint8_t* at, const uint8_t* below, int32_t* gradient,
                         int width);

/// Column sums of s, a and b over the rows of a block.
struct CornerColumns {
  int32_t *s, *a, *b;
};
/// Takes one row of gradients into the sums and another out of them.
void corner_columns_row(const int32_t* added, const int32_t* removed, const CornerColumns& sums, int count);

/// Eigenvalues of a row, from column sums that begin block / 2 before it. Those that are surely below `least`
/// may be written as 0. Returns the largest.
float corner_strength_row(const CornerColumns& sums, int block, float least, float* strength, int width);

/// Pixels 1 … width - 2 that are above `least` and come before their eight neighbours in the order of
/// corners: writes x and strength, returns how many.
int corner_maxima_row(const float* above, const float* at, const float* below, int width, float least,
                      uint32_t* x, float* strength);

}  // namespace lensd
