// The CPU side of mosaic: sums down the columns of a row of blocks, then across, then the rows are filled.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/mosaic/mosaic_math.hpp"

namespace lensd {

/// Bytes of worker memory that mosaic_block_row() needs for images of this format.
size_t mosaic_worker_bytes(ImageFormat format);

/// One row of blocks, `index` of them from the top. Adds the channel sums to `sums`.
void mosaic_block_row(ConstImageRef in, ImageRef out, int index, int block, uint8_t* worker,
                      MosaicStats& sums);

}  // namespace lensd
