#include <bit>

#include "kernels/common/launch.cuh"
#include "kernels/mosaic/mosaic.hpp"

namespace lensd {
namespace {

/// A thread block takes a tile of whole mosaic blocks, at least 4 by 1, about 256 by 32 pixels where they are
/// small: sums down the columns by all threads, across by one thread or one warp a mosaic block, then the
/// tile is filled.
struct MosaicTuning {
  static constexpr int threads = 256;
  static constexpr int across(int log2_block) { return log2_block >= 6 ? 4 : 256 >> log2_block; }
  static constexpr int down(int log2_block) { return log2_block >= 5 ? 1 : 32 >> log2_block; }
  static constexpr int max_columns = 4 * kMosaicMaxBlock;  ///< of a tile, whatever the block
};

/// Division of columns below 1024 by the block, 2 to 256, exact.
struct ByBlock {
  uint32_t factor;
  __device__ explicit ByBlock(int block)
      : factor((0x400000u + static_cast<uint32_t>(block) - 1) / static_cast<uint32_t>(block)) {}
  __device__ int operator()(int column) const {
    return static_cast<int>(static_cast<uint32_t>(column) * factor >> 22);
  }
};

/// Sums four bytes down `rows` rows as 16-bit halves: (bytes 0 and 2, bytes 1 and 3).
__device__ uint2 sum_down(ImageView<const uint8_t> in, int byte, int y, int rows, int count, bool aligned) {
  uint2 sum = make_uint2(0, 0);
#pragma unroll 4
  for (int i = 0; i < rows; ++i) {
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

/// Sum of `value` over the lanes of a warp, in lane 0.
__device__ uint32_t warp_sum(uint32_t value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  return value;
}

template <int kChannels>
__global__ void __launch_bounds__(MosaicTuning::threads)
    mosaic_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, const MosaicBlock* params,
                  MosaicStats* stats, int log2_block, bool aligned) {
  constexpr int kColours = kChannels == 4 ? 3 : 1;
  constexpr int kPixels = kChannels == 4 ? 1 : 4;  // in a word
  __shared__ uint2 columns[kChannels == 4 ? MosaicTuning::max_columns : MosaicTuning::max_columns / 4];
  __shared__ uint32_t means[128];
  __shared__ unsigned long long totals[3];
  const int thread = static_cast<int>(threadIdx.x);
  const int block = params->block, across = MosaicTuning::across(log2_block);
  const int x0 = static_cast<int>(blockIdx.x) * across * block;
  if (x0 >= in.extent.width) return;
  const int tile_w = min(across * block, in.extent.width - x0);
  const int words = (tile_w + kPixels - 1) / kPixels, blocks = (tile_w + block - 1) / block;
  const ByBlock block_of(block);
  if (thread < 3) totals[thread] = 0;

  for (int j = 0; j < MosaicTuning::down(log2_block); ++j) {
    const int y = (static_cast<int>(blockIdx.y) * MosaicTuning::down(log2_block) + j) * block;
    if (y >= in.extent.height) break;
    const int rows = min(block, in.extent.height - y);
    for (int w = thread; w < words; w += MosaicTuning::threads)
      columns[w] =
          sum_down(in, (x0 + w * kPixels) * kChannels, y, rows, (tile_w - w * kPixels) * kChannels, aligned);
    __syncthreads();

    // Short blocks: a thread each. Long ones: a warp each.
    const bool by_warp = log2_block >= 5;
    const int lane = by_warp ? thread % 32 : 0, lanes = by_warp ? 32 : 1;
    for (int b = by_warp ? thread / 32 : thread; b < blocks; b += MosaicTuning::threads / lanes) {
      uint32_t sums[kColours] = {};
      const int begin = b * block, end = min(tile_w, begin + block);
      for (int x = begin + lane; x < end; x += lanes) {
        if constexpr (kChannels == 4) {
          const uint2 s = columns[x];
          sums[0] += s.x & 0xffff, sums[1] += s.y & 0xffff, sums[2] += s.x >> 16;
        } else {
          const uint2 s = columns[x / 4];
          sums[0] += ((x & 1 ? s.y : s.x) >> (x & 2 ? 16 : 0)) & 0xffff;
        }
      }
      uint32_t pixel = 0;
      for (int c = 0; c < kColours; ++c) {
        if (by_warp) sums[c] = warp_sum(sums[c]);
        if (lane != 0) continue;
        pixel |= rounded_mean(sums[c], static_cast<uint32_t>((end - begin) * rows)) << (8 * c);
        atomicAdd(&totals[c], static_cast<unsigned long long>(sums[c]));
      }
      if (lane == 0) means[b] = pixel;
    }
    __syncthreads();

    for (int item = thread; item < words * rows; item += MosaicTuning::threads) {
      const int row = item / words, w = item - row * words, x = w * kPixels;
      if constexpr (kChannels == 4) {
        const size_t byte = 4 * static_cast<size_t>(x0 + x);
        const uint32_t alpha = load_word(in.row(y + row) + byte, aligned) & 0xff000000u;
        store_word(out.row(y + row) + byte, means[block_of(x)] | alpha, aligned);
      } else {
        uint32_t word = 0;
        for (int i = 0; i < 4; ++i)
          if (x + i < tile_w) word |= means[block_of(x + i)] << (8 * i);
        store_bytes(out.row(y + row) + x0 + x, word, tile_w - x, aligned);
      }
    }
    __syncthreads();
  }
  if (thread < kColours) atomicAdd(&stats->sums[thread], totals[thread]);
}

}  // namespace

void Mosaic::launch(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const int block = static_cast<const MosaicBlock*>(args.host_block)->block;
  const int log2_block = static_cast<int>(std::bit_width(static_cast<unsigned>(block))) - 1;
  // The grid fits the smallest block of the variant; with a larger one the last thread blocks have nothing to
  // do.
  const int smallest = 1 << log2_block;
  const dim3 grid(blocks_for(in.width(), smallest * MosaicTuning::across(log2_block)),
                  blocks_for(in.height(), smallest * MosaicTuning::down(log2_block)));
  const auto* params = static_cast<const MosaicBlock*>(args.block);
  auto* stats = static_cast<MosaicStats*>(args.stats);
  const bool aligned = rows_aligned(in, 4) && rows_aligned(args.out, 4);
  if (in.channels() == 1)
    mosaic_kernel<1><<<grid, MosaicTuning::threads, 0, stream>>>(
        in.as<const uint8_t>(), args.out.as<uint8_t>(), params, stats, log2_block, aligned);
  else
    mosaic_kernel<4><<<grid, MosaicTuning::threads, 0, stream>>>(
        in.as<const uint8_t>(), args.out.as<uint8_t>(), params, stats, log2_block, aligned);
  LENSD_LAUNCHED();
}

}  // namespace lensd
