// The CPU side of gaussian: a band of rows in column chunks that stay in the L2 cache.
//
//   two image rows ─ pairs of neighbours ─ horizontal sums ─▶ ring of row pairs ─ vertical sums ─▶ two rows
//
// All sums are signed 16-bit pair products (pmaddwd): horizontally the pair is two neighbours of a row,
// vertically two rows, which therefore lie interleaved in the ring: each loaded pair serves both output rows.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/gaussian/gaussian_math.hpp"

namespace lensd {

/// Bytes of worker memory that gaussian_band() needs, for any image and radius.
size_t gaussian_worker_bytes();

/// Rows of `band`. `worker` is private memory of gaussian_worker_bytes(), 64-byte aligned.
void gaussian_band(ConstImageRef in, ImageRef out, Band band, const GaussianBlock& block, uint8_t* worker);

}  // namespace lensd
