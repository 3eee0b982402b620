// The tiles of mosaic, for every block size and alignment. A thread block processes tiles of whole mosaic
// blocks in sequence: all threads sum down the columns, compute the means and fill the tile. The device
// derives the tiles from the block size, so that the launch depends on no parameter.
#pragma once

#include "kernels/common/warp.cuh"
#include "kernels/mosaic/mosaic_chunks.cuh"

namespace lensd {

/// A tile has about 64 words by 32 rows, or one mosaic block if that is larger. A word is four pixels of
/// Gray8 or one pixel of another format.
struct MosaicTuning : MosaicGrid {
  static constexpr int words = 64, rows = 32;
  /// Maximum number of column sums of a tile: one for each word and row of mosaic blocks.
  static constexpr int max_columns = words * rows / 2;
  /// Maximum number of mosaic blocks of a tile.
  static constexpr int max_blocks(int pixels_of_word) { return pixels_of_word * max_columns / 2; }
};

/// A tile of whole mosaic blocks, clipped to the picture.
struct MosaicTile {
  int block, x0, y0, width, height;
  int across, down;  ///< number of mosaic blocks, including partial ones

  /// Returns the height in pixels of row `j` of mosaic blocks.
  __device__ int rows(int j) const { return min(block, height - j * block); }
};

/// Calls f(tile) for this thread block's tiles of an image. Tiles are a whole number of words wide, except at
/// the right side of the image.
template <int kPixelsOfWord, class F>
__device__ void each_mosaic_tile(Extent extent, int block, const F& f) {
  const int fit = MosaicTuning::words * kPixelsOfWord / block;
  const int width = (block % kPixelsOfWord == 0 ? max(1, fit) : max(4, fit / 4 * 4)) * block,
            height = max(1, MosaicTuning::rows / block) * block;
  const int columns = (extent.width + width - 1) / width,
            count = columns * ((extent.height + height - 1) / height);
  for (int i = static_cast<int>(blockIdx.x); i < count; i += static_cast<int>(gridDim.x)) {
    const int row = i / columns;
    MosaicTile tile{.block = block, .x0 = (i - row * columns) * width, .y0 = row * height};
    tile.width = min(width, extent.width - tile.x0), tile.height = min(height, extent.height - tile.y0);
    tile.across = (tile.width + block - 1) / block, tile.down = (tile.height + block - 1) / block;
    f(tile);
  }
}

/// Computes the means of the tile's blocks. One thread computes those of a block, or one warp if the blocks
/// are large. add(sums, x, j) adds the column sums at x of row `j` of blocks; store(b, means) stores the
/// means of block b. Adds this thread's sums to `totals`.
template <int kColours, class Total, class Add, class Store>
__device__ void average_tile(const MosaicTile& tile, Total (&totals)[kColours], const Add& add,
                             const Store& store) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const bool by_warp = tile.block >= 16;
  const int first = by_warp ? thread / 32 : thread,
            step = by_warp ? MosaicTuning::warps : MosaicTuning::threads;
  for (int b = first; b < tile.across * tile.down; b += step) {
    const int j = b / tile.across, begin = (b - j * tile.across) * tile.block,
              end = min(tile.width, begin + tile.block);
    uint32_t sums[kColours] = {}, means[kColours];
    for (int x = begin + (by_warp ? lane : 0); x < end; x += by_warp ? 32 : 1) add(sums, x, j);
    for (int c = 0; by_warp && c < kColours; ++c) sums[c] = warp_sum(sums[c]);
    if (by_warp && lane != 0) continue;
    const auto count = static_cast<uint32_t>((end - begin) * tile.rows(j));
    for (int c = 0; c < kColours; ++c) means[c] = rounded_mean(sums[c], count), totals[c] += sums[c];
    store(b, means);
  }
  __syncthreads();
}

/// Adds the sums of all threads of the block to the statistics. One atomic addition per thread block, since
/// all blocks add to the same three words, and one per warp in shared memory, because 64-bit ones are loops
/// there.
template <int kColours, class Total>
__device__ void add_totals(const Total (&totals)[kColours], MosaicStats& stats) {
  __shared__ Total sums[kColours];
  if (threadIdx.x < kColours) sums[threadIdx.x] = 0;
  __syncthreads();
  for (int c = 0; c < kColours; ++c) {
    const Total total = warp_sum(totals[c]);
    if (threadIdx.x % 32 == 0 && total > 0) atomicAdd(&sums[c], total);
  }
  __syncthreads();
  if (threadIdx.x < kColours && sums[threadIdx.x] > 0)
    atomicAdd(&stats.sums[threadIdx.x], static_cast<unsigned long long>(sums[threadIdx.x]));
}

}  // namespace lensd
