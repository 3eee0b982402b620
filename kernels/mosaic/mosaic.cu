#include "kernels/common/launch.cuh"
#include "kernels/mosaic/mosaic.hpp"
#include "kernels/mosaic/mosaic_chunks.cuh"

namespace lensd {
namespace {

/// A thread block processes tiles of whole mosaic blocks in sequence. A tile has about 64 words (256 grey or
/// 64 colour pixels) by 32 rows, or one mosaic block if that is larger. All threads sum down the columns,
/// compute the means and fill the tile. The device derives the tiles from the block size, so that the launch
/// depends on no parameter.
struct MosaicTuning : MosaicGrid {
  static constexpr int words = 64, rows = 32;
  static constexpr int most_columns = words * rows / 2;     ///< maximum entries of MosaicShared::columns
  static constexpr int most_blocks = 4 * most_columns / 2;  ///< maximum number of mosaic blocks of a tile
};

/// Split of the image into tiles, whose width is a whole number of words.
struct MosaicTiles {
  int across, down;  ///< mosaic blocks of a tile, across and down
  int columns, count;

  __device__ MosaicTiles(Extent extent, int block, int pixels_of_word) {
    const int fit = MosaicTuning::words * pixels_of_word / block;
    across = block % pixels_of_word == 0 ? max(1, fit) : max(4, fit / 4 * 4);
    down = max(1, MosaicTuning::rows / block);
    columns = (extent.width + across * block - 1) / (across * block);
    count = columns * ((extent.height + down * block - 1) / (down * block));
  }
};

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

/// Returns the sum of `value` over the lanes of a warp, in lane 0.
__device__ uint32_t warp_sum(uint32_t value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  return value;
}

struct MosaicShared {
  uint2 columns[MosaicTuning::most_columns];  ///< column sums of each row of mosaic blocks, per word
  uint32_t means[MosaicTuning::most_blocks];
};

/// Processes the whole image tile by tile, for every block size and alignment. Adds this thread's sums to
/// `totals`, which stay below 2^28 for the largest image.
template <int kChannels>
__device__ void mosaic_by_tiles(int block, const ImageView<const uint8_t>& in, const ImageView<uint8_t>& out,
                                bool aligned, uint32_t (&totals)[kChannels == 4 ? 3 : 1]) {
  constexpr int kColours = kChannels == 4 ? 3 : 1;
  constexpr int kPixels = kChannels == 4 ? 1 : 4;  // pixels in a word
  __shared__ MosaicShared shared;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const MosaicTiles tiles(in.extent, block, kPixels);

  for (int tile = static_cast<int>(blockIdx.x); tile < tiles.count; tile += static_cast<int>(gridDim.x)) {
    const int tile_row = tile / tiles.columns;
    const int x0 = (tile - tile_row * tiles.columns) * tiles.across * block,
              y0 = tile_row * tiles.down * block;
    const int width = min(tiles.across * block, in.extent.width - x0),
              height = min(tiles.down * block, in.extent.height - y0);
    const int words = (width + kPixels - 1) / kPixels, across = (width + block - 1) / block,
              down = (height + block - 1) / block;

    // Several threads share a column if there are more threads than columns.
    const int parts = max(1, MosaicTuning::threads / (words * down));
    for (int i = thread; i < words * down; i += MosaicTuning::threads) shared.columns[i] = make_uint2(0, 0);
    __syncthreads();
    for (int item = thread; item < words * down * parts; item += MosaicTuning::threads) {
      const int line = item / words, w = item - line * words, j = line / parts, part = line - j * parts;
      const int rows = min(block, height - j * block);
      const uint2 sum = sum_down(in, (x0 + w * kPixels) * kChannels, y0 + j * block + part, rows - part,
                                 parts, (width - w * kPixels) * kChannels, aligned);
      uint2& column = shared.columns[j * words + w];
      if (parts == 1) {
        column = sum;
      } else {  // a half is at most 255 · 256, so it does not overflow
        atomicAdd(&column.x, sum.x), atomicAdd(&column.y, sum.y);
      }
    }
    __syncthreads();

    // One thread per small mosaic block, one warp per large mosaic block.
    const bool by_warp = block >= 16;
    const int first = by_warp ? warp : thread, step = by_warp ? MosaicTuning::warps : MosaicTuning::threads;
    for (int b = first; b < across * down; b += step) {
      const int j = b / across, begin = (b - j * across) * block, end = min(width, begin + block);
      const int rows = min(block, height - j * block);
      uint32_t sums[kColours] = {};
      for (int x = begin + (by_warp ? lane : 0); x < end; x += by_warp ? 32 : 1) {
        const uint2 s = shared.columns[j * words + x / kPixels];
        if constexpr (kChannels == 4)
          sums[0] += s.x & 0xffff, sums[1] += s.y & 0xffff, sums[2] += s.x >> 16;
        else
          sums[0] += ((x & 1 ? s.y : s.x) >> (x & 2 ? 16 : 0)) & 0xffff;
      }
      uint32_t pixel = 0;
      for (int c = 0; c < kColours; ++c) {
        if (by_warp) sums[c] = warp_sum(sums[c]);
        if (by_warp && lane != 0) continue;
        pixel |= rounded_mean(sums[c], static_cast<uint32_t>((end - begin) * rows)) << (8 * c);
        totals[c] += sums[c];
      }
      if (!by_warp || lane == 0) shared.means[b] = pixel;
    }
    __syncthreads();

    // Replace each sum with the word that fills its column in its row of mosaic blocks.
    for (int item = thread; item < words * down; item += MosaicTuning::threads) {
      const int j = item / words, x = (item - j * words) * kPixels;
      uint32_t word = 0;
      for (int i = 0; i < kPixels; ++i)
        if (x + i < width) word |= shared.means[j * across + (x + i) / block] << (8 * i);
      shared.columns[item].x = word;
    }
    __syncthreads();

    for (int row = warp; row < height; row += MosaicTuning::warps) {
      const uint2* const fill = shared.columns + row / block * words;
      const uint8_t* const from = in.row(y0 + row) + x0 * kChannels;
      uint8_t* const to = out.row(y0 + row) + x0 * kChannels;
#pragma unroll 2
      for (int w = lane; w < words; w += 32) {
        if constexpr (kChannels == 4)
          store_word(to + 4 * w, fill[w].x | (load_word(from + 4 * w, aligned) & 0xff000000u), aligned);
        else
          store_bytes(to + 4 * w, fill[w].x, width - 4 * w, aligned);
      }
    }
    __syncthreads();
  }
}

/// Processes the image. `whole`: rows consist of whole 16-byte chunks and are aligned to 16 bytes.
template <int kChannels>
__global__ void __launch_bounds__(MosaicTuning::threads, MosaicTuning::resident)
    mosaic_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, const MosaicBlock* params,
                  MosaicStats* stats, bool aligned, bool whole) {
  constexpr int kColours = kChannels == 4 ? 3 : 1;
  __shared__ uint32_t sums[kColours];
  if (threadIdx.x < kColours) sums[threadIdx.x] = 0;
  __syncthreads();
  uint32_t totals[kColours] = {};
  const int block = params->block;
  if (!whole || !mosaic_by_chunks<uint8_t, kChannels>(block, in, out, totals))
    mosaic_by_tiles<kChannels>(block, in, out, aligned, totals);
  // One atomic addition per thread block, since all blocks add to the same three words.
  for (int c = 0; c < kColours; ++c) {
    const uint32_t total = warp_sum(totals[c]);
    if (threadIdx.x % 32 == 0 && total > 0) atomicAdd(&sums[c], total);
  }
  __syncthreads();
  if (threadIdx.x < kColours && sums[threadIdx.x] > 0)
    atomicAdd(&stats->sums[threadIdx.x], static_cast<unsigned long long>(sums[threadIdx.x]));
}

}  // namespace

void Mosaic::launch_apply(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  if (in.is_deep()) return launch_deep(args, stream);
  const auto kernel = in.channels() == 1 ? mosaic_kernel<1> : mosaic_kernel<4>;
  kernel<<<MosaicTuning::grid, MosaicTuning::threads, 0, stream>>>(
      in.as<const uint8_t>(), args.out.as<uint8_t>(), static_cast<const MosaicBlock*>(args.block),
      static_cast<MosaicStats*>(args.stats), rows_aligned(in, 4) && rows_aligned(args.out, 4),
      rows_aligned(in, 16) && rows_aligned(args.out, 16) && in.row_bytes() % 16 == 0);
  LENSD_LAUNCHED();
}

}  // namespace lensd
