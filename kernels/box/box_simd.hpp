// The row loops of box on the CPU.
#pragma once

#include "kernels/box/box_math.hpp"

namespace lensd {

/// The largest radius whose sums fit 16 bits.
inline constexpr int kBoxNarrowRadius = 7;

/// sums[i] += add[i] − sub[i] for `n` bytes; a null row counts as zeros.
void box_slide(uint16_t* sums, const uint8_t* add, const uint8_t* sub, size_t n);

/// `n` means of 2·radius + 1 column sums `step` apart, for radii of 1 to kBoxNarrowRadius. `columns` points
/// at the first of byte 0's window.
void box_means_narrow(const uint16_t* columns, int step, const BoxBlock& block, uint8_t* out, size_t n);

/// The same for all radii, of rows of one or four channels; `sums` is memory for a row.
void box_means_wide(const uint16_t* columns, int channels, const BoxBlock& block, uint32_t* sums,
                    uint8_t* out, int width);

}  // namespace lensd
