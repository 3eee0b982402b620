// SIMD loops of resize for 16-bit images on the CPU, one row per call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lensd {

/// Computes rounded means of 2×2 pixels; `n` is the number of output samples.
void deep_half_row(const uint16_t* upper, const uint16_t* lower, int channels, size_t n, uint16_t* out);

}  // namespace lensd
