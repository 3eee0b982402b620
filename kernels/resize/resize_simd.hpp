// SIMD loops of resize on the CPU, one row per call.
#pragma once

#include "kernels/resize/resize_math.hpp"

namespace lensd {

/// Computes the horizontal sums of a row with 6 fractional bits. `out` is interleaved: out[x · channels + c].
void resize_taps_row(const uint8_t* in, const ResizeAxis& axis, const ResizeTable& table, int taps,
                     int channels, int16_t* out);
/// Computes `n` output bytes from `taps` rows of horizontal sums. pairs[p] holds the weights of rows 2p (low
/// half) and 2p + 1 (high half).
void resize_sum_rows(const int16_t* const* rows, const int32_t* pairs, int taps, size_t n, uint8_t* out);

/// Computes rounded means of 2×2 pixels; `n` is the number of output bytes.
void resize_half_row(const uint8_t* upper, const uint8_t* lower, int channels, size_t n, uint8_t* out);

/// Computes sums[i] += weight · in[i] for `n` samples, or sums[i] = weight · in[i] if `first` is true.
void resize_add_row(const uint8_t* in, uint32_t weight, bool first, size_t n, uint32_t* sums);
/// Computes a row of `width` output pixels from the vertical sums of its source rows. `total`: sum of all
/// weights of a footprint, which is the product of the sums along both axes.
void resize_mean_row(const uint32_t* sums, const AreaAxis& axis, int width, int channels, uint64_t total,
                     uint8_t* out);

}  // namespace lensd
