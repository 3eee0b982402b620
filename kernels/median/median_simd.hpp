// The CPU side of median up to radius 3: two output rows at a time from a ring of padded rows; every byte is
// a lane, whatever channel it belongs to, with its neighbours `channels` bytes away.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/median/median_math.hpp"

namespace lensd {

/// Bytes of worker memory that median_band() needs for images of this format.
size_t median_worker_bytes(ImageFormat format);

/// Rows of `band`. `worker` is private memory of median_worker_bytes().
void median_band(ConstImageRef in, ImageRef out, Band band, const MedianBlock& block, uint8_t* worker);

}  // namespace lensd
