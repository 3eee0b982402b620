// The CPU's inner loops, each for one row, dispatched to the widest SIMD at run time.
#pragma once

#include "kernels/resize/resize_math.hpp"

namespace lensd {

/// Output samples of a row before the vertical sums: out[x · channels + c], 6 fractional bits.
void resize_taps_row(const uint8_t* in, const ResizeAxis& axis, const ResizeTable& table, int taps,
                     int channels, int16_t* out);
/// The weighted sum of `taps` such rows; pairs[p] holds the weights of rows 2p and 2p + 1. `n` samples.
void resize_sum_rows(const int16_t* const* rows, const int32_t* pairs, int taps, size_t n, uint8_t* out);

/// Rounded means of 2×2 pixels; `n` output bytes.
void resize_half_row(const uint8_t* upper, const uint8_t* lower, int channels, size_t n, uint8_t* out);

/// sums[i] (+)= weight · in[i]; `fresh` starts anew.
void resize_add_row(const uint8_t* in, uint32_t weight, bool fresh, size_t n, uint32_t* sums);
/// Means along a row of vertical sums; `total` is the sum of the weights of a whole footprint.
void resize_mean_row(const uint32_t* sums, const AreaAxis& axis, int width, int channels, uint64_t total,
                     uint8_t* out);

}  // namespace lensd
