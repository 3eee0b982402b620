#include "kernels/common/launch.cuh"
#include "kernels/mosaic/mosaic.hpp"
#include "kernels/mosaic/mosaic_tiles.cuh"

namespace lensd {
namespace {

struct MosaicJob {
  ImageView<const uint8_t> in;
  ImageView<uint8_t> out;
  const MosaicBlock* block;
  MosaicStats* stats;
  bool aligned;  ///< rows start at multiples of 4 bytes
  bool whole;    ///< rows consist of whole 16-byte chunks and are aligned to 16 bytes
};

/// Number of pixels in a word.
template <int kChannels>
constexpr int kWordPixels = kChannels == 4 ? 1 : 4;

template <int kChannels>
struct MosaicShared {
  uint2 columns[MosaicTuning::max_columns];  ///< column sums of each row of mosaic blocks, per word
  uint32_t means[MosaicTuning::max_blocks(kWordPixels<kChannels>)];
};

/// Returns the width of a tile in words.
template <int kChannels>
__device__ int words_of(const MosaicTile& tile) {
  return (tile.width + kWordPixels<kChannels> - 1) / kWordPixels<kChannels>;
}

/// Sums min(count, 4) bytes down every `step`-th of `rows` rows, from `byte` and row y on. Returns 16-bit
/// sums: bytes 0 and 2 in x, bytes 1 and 3 in y.
__device__ uint2 sum_down(ImageView<const uint8_t> in, int byte, int y, int rows, int step, int count,
                          bool aligned) {
  uint2 sum = make_uint2(0, 0);
#pragma unroll 8
  for (int i = 0; i < rows; i += step) {
    const uint8_t* p = in.row(y + i) + byte;
    uint32_t word = 0;
    if (count >= 4)
      word = load_word(p, aligned);
    else
      for (int k = 0; k < count; ++k) word |= static_cast<uint32_t>(p[k]) << (8 * k);
    sum.x += word & 0x00ff00ffu;
    sum.y += word >> 8 & 0x00ff00ffu;
  }
  return sum;
}

/// Fills shared.columns. Several threads share a column if there are more threads than columns.
template <int kChannels>
__device__ void sum_columns(const MosaicJob& job, const MosaicTile& tile, MosaicShared<kChannels>& shared) {
  constexpr int kPixels = kWordPixels<kChannels>;
  const int thread = static_cast<int>(threadIdx.x), words = words_of<kChannels>(tile),
            columns = words * tile.down;
  const int parts = max(1, MosaicTuning::threads / columns);
  for (int i = thread; i < columns; i += MosaicTuning::threads) shared.columns[i] = make_uint2(0, 0);
  __syncthreads();
  for (int item = thread; item < columns * parts; item += MosaicTuning::threads) {
    const int line = item / words, w = item - line * words, j = line / parts, part = line - j * parts;
    const uint2 sum =
        sum_down(job.in, (tile.x0 + w * kPixels) * kChannels, tile.y0 + j * tile.block + part,
                 tile.rows(j) - part, parts, (tile.width - w * kPixels) * kChannels, job.aligned);
    uint2& column = shared.columns[j * words + w];
    if (parts == 1) {
      column = sum;
    } else {  // a half is at most 255 · 256, so it does not overflow
      atomicAdd(&column.x, sum.x), atomicAdd(&column.y, sum.y);
    }
  }
  __syncthreads();
}

/// Fills shared.means from shared.columns. Adds this thread's sums to `totals`.
template <int kChannels, int kColours>
__device__ void average_blocks(const MosaicTile& tile, MosaicShared<kChannels>& shared,
                               uint32_t (&totals)[kColours]) {
  const int words = words_of<kChannels>(tile);
  average_tile(
      tile, totals,
      [&](uint32_t(&sums)[kColours], int x, int j) {
        const uint2 s = shared.columns[j * words + x / kWordPixels<kChannels>];
        if constexpr (kChannels == 4)
          sums[0] += s.x & 0xffff, sums[1] += s.y & 0xffff, sums[2] += s.x >> 16;
        else
          sums[0] += ((x & 1 ? s.y : s.x) >> (x & 2 ? 16 : 0)) & 0xffff;
      },
      [&](int b, const uint32_t(&means)[kColours]) {
        uint32_t pixel = means[0];
        if constexpr (kChannels == 4) pixel |= means[1] << 8 | means[2] << 16;
        shared.means[b] = pixel;
      });
}

/// Writes the means to the tile's pixels.
template <int kChannels>
__device__ void fill_tile(const MosaicJob& job, const MosaicTile& tile, MosaicShared<kChannels>& shared) {
  constexpr int kPixels = kWordPixels<kChannels>;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int words = words_of<kChannels>(tile);
  // Replace each sum by the word that fills its column in its row of mosaic blocks.
  for (int item = thread; item < words * tile.down; item += MosaicTuning::threads) {
    const int j = item / words, x = (item - j * words) * kPixels;
    uint32_t word = 0;
    for (int i = 0; i < kPixels; ++i)
      if (x + i < tile.width) word |= shared.means[j * tile.across + (x + i) / tile.block] << (8 * i);
    shared.columns[item].x = word;
  }
  __syncthreads();

  for (int row = warp; row < tile.height; row += MosaicTuning::warps) {
    const uint2* const fill = shared.columns + row / tile.block * words;
    const uint8_t* const from = job.in.row(tile.y0 + row) + tile.x0 * kChannels;
    uint8_t* const to = job.out.row(tile.y0 + row) + tile.x0 * kChannels;
#pragma unroll 2
    for (int w = lane; w < words; w += 32) {
      if constexpr (kChannels == 4)
        store_word(to + 4 * w, fill[w].x | (load_word(from + 4 * w, job.aligned) & 0xff000000u), job.aligned);
      else
        store_bytes(to + 4 * w, fill[w].x, tile.width - 4 * w, job.aligned);
    }
  }
  __syncthreads();
}

/// Each thread's sums stay below 2^28 for the largest image.
template <int kChannels>
__global__ void __launch_bounds__(MosaicTuning::threads, MosaicTuning::resident)
    mosaic_kernel(const __grid_constant__ MosaicJob job) {
  uint32_t totals[kChannels == 4 ? 3 : 1] = {};
  const int block = job.block->block;
  if (!job.whole || !mosaic_by_chunks<uint8_t, kChannels>(block, job.in, job.out, totals)) {
    __shared__ MosaicShared<kChannels> shared;
    each_mosaic_tile<kWordPixels<kChannels>>(job.in.extent, block, [&](const MosaicTile& tile) {
      sum_columns(job, tile, shared);
      average_blocks(tile, shared, totals);
      fill_tile(job, tile, shared);
    });
  }
  add_totals(totals, *job.stats);
}

}  // namespace

void Mosaic::launch_apply(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  if (in.is_deep()) return launch_deep(args, stream);
  const MosaicJob job{in.as<const uint8_t>(),
                      args.out.as<uint8_t>(),
                      static_cast<const MosaicBlock*>(args.block),
                      static_cast<MosaicStats*>(args.stats),
                      rows_aligned(in, 4) && rows_aligned(args.out, 4),
                      rows_aligned(in, 16) && rows_aligned(args.out, 16) && in.row_bytes() % 16 == 0};
  const auto kernel = in.channels() == 1 ? mosaic_kernel<1> : mosaic_kernel<4>;
  kernel<<<MosaicTuning::grid, MosaicTuning::threads, 0, stream>>>(job);
  LENSD_LAUNCHED();
}

}  // namespace lensd
