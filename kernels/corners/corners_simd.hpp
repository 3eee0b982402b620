// SIMD row functions of the corner detector on the CPU. Pointers may be unaligned. Rows need kCornerSlack
// values of padding after their end, which vectors may read and write.
#pragma once

#include <cstdint>

#include "kernels/corners/corners_math.hpp"

namespace lensd {

inline constexpr int kCornerSlack = 64;

/// Computes the Sobel derivatives of a row: dx in the low and dy in the high 16 bits of each value. The
/// pointers are to pixel 0 of each row; pixels −1 and `width` must be readable.
void corner_gradient_row(const uint8_t* above, const uint8_t* at, const uint8_t* below, int32_t* gradient,
                         int width);
/// Computes the derivatives of a row whose pixels have 7 fraction bits, after rounding them to `bits`.
void corner_deep_gradient_row(const uint16_t* above, const uint16_t* at, const uint16_t* below, int bits,
                              int32_t* gradient, int width);

/// Column sums of s, a and b (of the structure tensor, see corners_math.hpp) over the rows of a block.
struct CornerColumns {
  int32_t *s, *a, *b;
};
/// Adds the gradient products of row `added` to the first `count` column sums and subtracts those of
/// `removed`.
void corner_columns_row(const int32_t* added, const int32_t* removed, const CornerColumns& sums, int count);

/// Computes the smallest eigenvalue of each pixel of a row, from column sums that start block / 2 columns
/// before pixel 0. `narrow`: see corner_is_narrow(). Values below `least` may be stored as 0. Returns the
/// maximum.
float corner_strength_row(const CornerColumns& sums, int block, bool narrow, float least, float* strength,
                          int width);

/// Finds local maxima above `least` among pixels 1 … width − 2; of equal neighbours only the first counts.
/// Writes their x and strength, and returns their number.
int corner_maxima_row(const float* above, const float* at, const float* below, int width, float least,
                      uint32_t* x, float* strength);

}  // namespace lensd
