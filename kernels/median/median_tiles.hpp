// The CPU side of median from radius 4 on: tiles searched by thresholds.
//
// The median of a pixel is the largest t for which more than half of its window is at or above t. For one t
// the numbers of such samples in all windows of a tile are a box sum over comparisons: running sums down the
// columns, a few shifted additions along the rows, every byte a lane. Which t are tried is a search for the
// tile as a whole: where two thresholds have equally many pixels of a row at or above them, no median of that
// row lies between, and the row is left out of what is tried between. A tile costs about one box sum for each
// different median in it, 255 at the very most; the radius hardly counts. Up to radius 7 a tile is so wide
// that its row with the border is 64 bytes, which stay in registers while they are summed.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/median/median_math.hpp"

namespace lensd {

inline constexpr int kMedianTileRows = 16;

/// Bytes of worker memory that median_tiles_band() needs.
size_t median_tiles_worker_bytes();

/// Rows of `band`, for radius 4 and more. `worker` is private memory of median_tiles_worker_bytes(), aligned
/// to 64.
void median_tiles_band(ConstImageRef in, ImageRef out, Band band, const MedianBlock& block, uint8_t* worker);

}  // namespace lensd
