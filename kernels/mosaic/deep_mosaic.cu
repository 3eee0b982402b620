#include "kernels/common/deep/pixels.cuh"
#include "kernels/mosaic/mosaic.hpp"
#include "kernels/mosaic/mosaic_tiles.cuh"

namespace lensd {
namespace {

template <int kColours>
struct DeepMosaicShared {
  uint32_t columns[kColours][MosaicTuning::max_columns];  ///< column sums of each row of mosaic blocks
  uint16_t means[kColours][MosaicTuning::max_blocks(1)];
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

/// Adds the samples of column x in every `step`-th of `rows` rows, from row y on.
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
__device__ void sum_columns(const DeepMosaicJob& job, const MosaicTile& tile,
                            DeepMosaicShared<kColours>& shared) {
  const int thread = static_cast<int>(threadIdx.x), columns = tile.width * tile.down;
  const int parts = max(1, MosaicTuning::threads / columns);
  for (int i = thread; i < columns; i += MosaicTuning::threads)
    for (int c = 0; c < kColours; ++c) shared.columns[c][i] = 0;
  __syncthreads();
  for (int item = thread; item < columns * parts; item += MosaicTuning::threads) {
    const int line = item / tile.width, x = item - line * tile.width, j = line / parts,
              part = line - j * parts;
    uint32_t sums[kColours] = {};
    sum_pixel<kChannels>(job, tile.x0 + x, tile.y0 + j * tile.block + part, tile.rows(j) - part, parts, sums);
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

/// Fills shared.means from shared.columns. Adds this thread's sums to `totals`.
template <int kColours>
__device__ void average_blocks(const MosaicTile& tile, DeepMosaicShared<kColours>& shared,
                               unsigned long long (&totals)[kColours]) {
  average_tile(
      tile, totals,
      [&](uint32_t(&sums)[kColours], int x, int j) {
        for (int c = 0; c < kColours; ++c) sums[c] += shared.columns[c][j * tile.width + x];
      },
      [&](int b, const uint32_t(&means)[kColours]) {
        for (int c = 0; c < kColours; ++c) shared.means[c][b] = static_cast<uint16_t>(means[c]);
      });
}

/// Writes the means to the tile's pixels.
template <int kChannels, int kColours>
__device__ void fill_tile(const DeepMosaicJob& job, const MosaicTile& tile,
                          const DeepMosaicShared<kColours>& shared) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (int row = warp; row < tile.height; row += MosaicTuning::warps) {
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

template <int kChannels>
__global__ void __launch_bounds__(MosaicTuning::threads, MosaicTuning::resident)
    deep_mosaic_kernel(DeepMosaicJob job) {
  constexpr int kColours = kChannels == 4 ? 3 : 1;
  unsigned long long totals[kColours] = {};
  const int block = job.block->block;
  if (!job.whole || !mosaic_by_chunks<uint16_t, kChannels>(block, job.in_bytes, job.out_bytes, totals)) {
    __shared__ DeepMosaicShared<kColours> shared;
    each_mosaic_tile<1>(job.in.extent, block, [&](const MosaicTile& tile) {
      sum_columns<kChannels>(job, tile, shared);
      average_blocks(tile, shared, totals);
      fill_tile<kChannels>(job, tile, shared);
    });
  }
  add_totals(totals, *job.stats);
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
  kernel<<<MosaicTuning::grid, MosaicTuning::threads, 0, stream>>>(job);
  LENSD_LAUNCHED();
}

}  // namespace lensd
