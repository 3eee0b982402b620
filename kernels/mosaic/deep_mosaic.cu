#include "kernels/common/deep/pixels.cuh"
#include "kernels/mosaic/mosaic.hpp"
#include "kernels/mosaic/mosaic_chunks.cuh"

namespace lensd {
namespace {

/// Tiles as in mosaic.cu, but a thread processes a pixel instead of a word. A tile has about 64 pixels by 32
/// rows, or one mosaic block if that is larger. The device derives the tiles from the block size.
struct DeepMosaicTuning : MosaicGrid {
  static constexpr int pixels = 64, rows = 32;
  static constexpr int most_columns = pixels * rows / 2;  ///< maximum entries of DeepMosaicShared::columns
  static constexpr int most_blocks = most_columns / 2;    ///< maximum number of mosaic blocks of a tile
};

template <int kColours>
struct DeepMosaicShared {
  uint32_t columns[kColours][DeepMosaicTuning::most_columns];  ///< column sums of each row of blocks
  uint16_t means[kColours][DeepMosaicTuning::most_blocks];
};

struct DeepMosaicJob {
  ImageView<const uint16_t> in;
  ImageView<uint16_t> out;
  ImageView<const uint8_t> in_bytes;
  ImageView<uint8_t> out_bytes;
  const MosaicBlock* block;
  MosaicStats* stats;
  bool aligned;  ///< rows start at multiples of 8 bytes
  bool whole;    ///< rows consist of whole 16-byte chunks and are aligned to 16 bytes
};

/// A tile of whole mosaic blocks, clipped to the picture.
struct DeepMosaicTile {
  int block, x0, y0, width, height;
  int across, down;  ///< number of mosaic blocks, including partial ones
};

/// Adds the samples of column x in every `step`-th of `rows` rows, beginning with row y.
template <int kChannels, int kColours>
__device__ void sum_pixel(const DeepMosaicJob& job, int x, int y, int rows, int step,
                          uint32_t (&sums)[kColours]) {
#pragma unroll 4
  for (int i = 0; i < rows; i += step) {
    const uint16_t* p = job.in.row(y + i) + x * kChannels;
    if constexpr (kChannels == 1) {
      sums[0] += *p;
    } else {
      const DeepPixel v = load_deep(p, job.aligned);
      for (int c = 0; c < kColours; ++c) sums[c] += v.v[c];
    }
  }
}

/// Fills shared.columns. Several threads share a column if there are more threads than columns.
template <int kChannels, int kColours>
__device__ void sum_columns(const DeepMosaicJob& job, const DeepMosaicTile& tile,
                            DeepMosaicShared<kColours>& shared) {
  const int thread = static_cast<int>(threadIdx.x), columns = tile.width * tile.down;
  const int parts = max(1, DeepMosaicTuning::threads / columns);
  for (int i = thread; i < columns; i += DeepMosaicTuning::threads)
    for (int c = 0; c < kColours; ++c) shared.columns[c][i] = 0;
  __syncthreads();
  for (int item = thread; item < columns * parts; item += DeepMosaicTuning::threads) {
    const int line = item / tile.width, x = item - line * tile.width, j = line / parts,
              part = line - j * parts;
    const int rows = min(tile.block, tile.height - j * tile.block);
    uint32_t sums[kColours] = {};
    sum_pixel<kChannels>(job, tile.x0 + x, tile.y0 + j * tile.block + part, rows - part, parts, sums);
    for (int c = 0; c < kColours; ++c) {
      uint32_t& column = shared.columns[c][j * tile.width + x];
      if (parts == 1)
        column = sums[c];
      else
        atomicAdd(&column, sums[c]);
    }
  }
  __syncthreads();
}

/// Computes the means of the tile's blocks. One thread computes a mean, or one warp if the blocks are large.
/// Adds this thread's sums to `totals`.
template <int kColours>
__device__ void average_tile(const DeepMosaicTile& tile, DeepMosaicShared<kColours>& shared,
                             unsigned long long (&totals)[kColours]) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const bool by_warp = tile.block >= 16;
  const int first = by_warp ? thread / 32 : thread,
            step = by_warp ? DeepMosaicTuning::warps : DeepMosaicTuning::threads;
  for (int b = first; b < tile.across * tile.down; b += step) {
    const int j = b / tile.across, begin = (b - j * tile.across) * tile.block,
              end = min(tile.width, begin + tile.block);
    const auto count = static_cast<uint32_t>((end - begin) * min(tile.block, tile.height - j * tile.block));
    for (int c = 0; c < kColours; ++c) {
      uint32_t sum = 0;
      for (int x = begin + (by_warp ? lane : 0); x < end; x += by_warp ? 32 : 1)
        sum += shared.columns[c][j * tile.width + x];
      for (int other = 16; by_warp && other > 0; other /= 2) sum += __shfl_down_sync(~0u, sum, other);
      if (by_warp && lane != 0) continue;
      shared.means[c][b] = static_cast<uint16_t>(rounded_mean(sum, count));
      totals[c] += sum;
    }
  }
  __syncthreads();
}

template <int kChannels, int kColours>
__device__ void fill_tile(const DeepMosaicJob& job, const DeepMosaicTile& tile,
                          const DeepMosaicShared<kColours>& shared) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (int row = warp; row < tile.height; row += DeepMosaicTuning::warps) {
    const int first = row / tile.block * tile.across;
    const uint16_t* const from = job.in.row(tile.y0 + row) + tile.x0 * kChannels;
    uint16_t* const to = job.out.row(tile.y0 + row) + tile.x0 * kChannels;
    for (int x = lane; x < tile.width; x += 32) {
      const int b = first + x / tile.block;
      if constexpr (kChannels == 1)
        to[x] = shared.means[0][b];
      else
        store_deep(to + 4 * x,
                   {{shared.means[0][b], shared.means[1][b], shared.means[2][b], from[4 * x + 3]}},
                   job.aligned);
    }
  }
  __syncthreads();
}

/// Processes the whole image tile by tile, for every block size and alignment. Adds this thread's sums to
/// `totals`.
template <int kChannels, int kColours>
__device__ void deep_mosaic_by_tiles(const DeepMosaicJob& job, int block,
                                     unsigned long long (&totals)[kColours]) {
  __shared__ DeepMosaicShared<kColours> shared;
  const int tile_width = max(1, DeepMosaicTuning::pixels / block) * block,
            tile_height = max(1, DeepMosaicTuning::rows / block) * block;
  const int columns = (job.in.extent.width + tile_width - 1) / tile_width,
            count = columns * ((job.in.extent.height + tile_height - 1) / tile_height);
  for (int i = static_cast<int>(blockIdx.x); i < count; i += static_cast<int>(gridDim.x)) {
    DeepMosaicTile tile{.block = block, .x0 = i % columns * tile_width, .y0 = i / columns * tile_height};
    tile.width = min(tile_width, job.in.extent.width - tile.x0);
    tile.height = min(tile_height, job.in.extent.height - tile.y0);
    tile.across = (tile.width + block - 1) / block, tile.down = (tile.height + block - 1) / block;
    sum_columns<kChannels>(job, tile, shared);
    average_tile(tile, shared, totals);
    fill_tile<kChannels>(job, tile, shared);
  }
}

template <int kChannels>
__global__ void __launch_bounds__(DeepMosaicTuning::threads, DeepMosaicTuning::resident)
    deep_mosaic_kernel(DeepMosaicJob job) {
  constexpr int kColours = kChannels == 4 ? 3 : 1;
  __shared__ unsigned long long sums[kColours];
  if (threadIdx.x < kColours) sums[threadIdx.x] = 0;
  __syncthreads();
  unsigned long long totals[kColours] = {};
  const int block = job.block->block;
  if (!job.whole || !mosaic_by_chunks<uint16_t, kChannels>(block, job.in_bytes, job.out_bytes, totals))
    deep_mosaic_by_tiles<kChannels>(job, block, totals);
  // One atomic addition per warp, because 64-bit atomic additions to shared memory are loops.
  for (int c = 0; c < kColours; ++c) {
    for (int step = 16; step > 0; step /= 2) totals[c] += __shfl_down_sync(~0u, totals[c], step);
    if (threadIdx.x % 32 == 0 && totals[c] > 0) atomicAdd(&sums[c], totals[c]);
  }
  __syncthreads();
  if (threadIdx.x < kColours && sums[threadIdx.x] > 0)
    atomicAdd(&job.stats->sums[threadIdx.x], sums[threadIdx.x]);
}

}  // namespace

void Mosaic::launch_deep(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const DeepMosaicJob job{in.as<const uint16_t>(),
                          args.out.as<uint16_t>(),
                          in.as<const uint8_t>(),
                          args.out.as<uint8_t>(),
                          static_cast<const MosaicBlock*>(args.block),
                          static_cast<MosaicStats*>(args.stats),
                          rows_aligned(in, 8) && rows_aligned(args.out, 8),
                          rows_aligned(in, 16) && rows_aligned(args.out, 16) && in.row_bytes() % 16 == 0};
  const auto kernel = in.channels() == 1 ? deep_mosaic_kernel<1> : deep_mosaic_kernel<4>;
  kernel<<<DeepMosaicTuning::grid, DeepMosaicTuning::threads, 0, stream>>>(job);
  LENSD_LAUNCHED();
}

}  // namespace lensd
