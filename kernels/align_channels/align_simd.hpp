// The CPU's inner loops, each for one row, dispatched to the widest SIMD at run time.
#pragma once

#include "kernels/align_channels/align_math.hpp"

namespace lensd {

/// RGBA to three planes.
void align_split_row(const uint8_t* in, int width, uint8_t* r, uint8_t* g, uint8_t* b);
/// Adds Σc, Σc² and Σg·c of n ≤ 16384 samples.
void align_add_row(const uint8_t* g, const uint8_t* c, int n, AlignSums& sums);
/// Red, green with alpha and blue from three rows, red and blue `red` and `blue` pixels further on.
void align_merge_row(const uint8_t* red_row, int red, const uint8_t* row, const uint8_t* blue_row, int blue,
                     int width, uint8_t* out);

}  // namespace lensd
