// Processes mosaic blocks of 4, 8, 16, 32 and, except for RGBA8, 64 pixels in chunks of 16 bytes. A warp
// takes 512 bytes of one row of mosaic blocks, and each lane sums one chunk down its rows. Lanes of one
// mosaic block combine their sums by shuffles.
//
// Requires rows of whole chunks, aligned to 16 bytes. Other images and block sizes use the tiles of
// mosaic.cu and deep_mosaic.cu.
#pragma once

#include <type_traits>

#include "kernels/common/launch.cuh"
#include "kernels/mosaic/mosaic.hpp"

namespace lensd {

/// Launch shape of the kernels for 8-bit and 16-bit images.
struct MosaicGrid {
  static constexpr int threads = 256, warps = threads / 32;
  /// Minimum thread blocks per multiprocessor, which limits the registers per thread. A Turing
  /// multiprocessor holds 1024 threads.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  static constexpr int resident = 4;
#else
  static constexpr int resident = 5;
#endif
  static constexpr int grid = 660;  ///< number of thread blocks: five for each multiprocessor of an H200
};

/// Type of a lane's sum of one colour over the image.
template <class S>
using MosaicTotal = std::conditional_t<sizeof(S) == 1, uint32_t, unsigned long long>;

/// Mosaic blocks in a chunk of samples of type S.
template <class S, int kChannels, int kBlock>
struct MosaicLayout {
  static constexpr int colours = kChannels == 4 ? 3 : 1;
  static constexpr int pixels = 16 / (kChannels * static_cast<int>(sizeof(S)));
  static constexpr int parts = pixels > kBlock ? pixels / kBlock : 1;  ///< mosaic blocks per chunk
  static constexpr int lanes = kBlock > pixels ? kBlock / pixels : 1;  ///< lanes that share a mosaic block
};

/// Sums of a chunk's columns.
template <class S, int kChannels, int kBlock>
struct MosaicChunk;

template <int kChannels, int kBlock>
struct MosaicChunk<uint8_t, kChannels, kBlock> : MosaicLayout<uint8_t, kChannels, kBlock> {
  using MosaicLayout<uint8_t, kChannels, kBlock>::parts;

  /// Grey: sums[i] is the sum of word i's four pixels. RGBA: word i is a pixel; sums[i] holds red in the low
  /// half and blue in the high half, sums[4 + i] green.
  uint32_t sums[kChannels == 4 ? 8 : 4] = {};

  /// Adds a row of the chunk. Call for at most 64 rows, so that the 16-bit halves do not overflow.
  __device__ void add(uint4 v) {
    const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (kChannels == 1)
        sums[i] = __dp4a(words[i], 0x01010101u, sums[i]);
      else
        sums[i] += words[i] & 0x00ff00ffu, sums[4 + i] += words[i] >> 8 & 0xff;
    }
  }
  /// Returns the sum of colour `c` in mosaic block `part` of the chunk.
  __device__ uint32_t sum(int part, int c) const {
    uint32_t sum = 0;
#pragma unroll
    for (int i = part * 4 / parts; i < (part + 1) * 4 / parts; ++i) {
      if constexpr (kChannels == 1)
        sum += sums[i];
      else
        sum += c == 1 ? sums[4 + i] : c == 0 ? sums[i] & 0xffff : sums[i] >> 16;
    }
    return sum;
  }
  /// bits() returns word `i` of a chunk whose samples of colour `c` are `mean` and whose other samples are 0.
  /// alpha() returns the mask of the alpha bits in word `i`.
  __device__ static constexpr uint32_t bits(int, int c, uint32_t mean) {
    return kChannels == 1 ? mean * 0x01010101u : mean << (8 * c);
  }
  __device__ static constexpr uint32_t alpha(int) {
    return kChannels == 1 ? 0 : 0xff000000u;
  }
};

template <int kChannels, int kBlock>
struct MosaicChunk<uint16_t, kChannels, kBlock> : MosaicLayout<uint16_t, kChannels, kBlock> {
  using Layout = MosaicLayout<uint16_t, kChannels, kBlock>;
  static_assert(kChannels == 1 || Layout::parts == 1);
  uint32_t sums[Layout::parts][Layout::colours] = {};

  /// Adds a row of the chunk. RGBA: words 0 and 2 hold red and green, words 1 and 3 blue and alpha.
  __device__ void add(uint4 v) {
    constexpr uint32_t kLow = 0x0001, kHigh = 0x0100, kBoth = kLow | kHigh;
    const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      uint32_t(&sum)[Layout::colours] = sums[i * Layout::parts / 4];
      if constexpr (kChannels == 1) {
        sum[0] = __dp2a_lo(words[i], kBoth, sum[0]);
      } else if (i % 2 == 0) {
        sum[0] = __dp2a_lo(words[i], kLow, sum[0]);
        sum[1] = __dp2a_lo(words[i], kHigh, sum[1]);
      } else {
        sum[2] = __dp2a_lo(words[i], kLow, sum[2]);
      }
    }
  }
  __device__ uint32_t sum(int part, int c) const {
    return sums[part][c];
  }
  __device__ static constexpr uint32_t bits(int i, int c, uint32_t mean) {
    return kChannels == 1 ? mean * 0x00010001u : c / 2 == i % 2 ? mean << (c % 2 * 16) : 0;
  }
  __device__ static constexpr uint32_t alpha(int i) {
    return kChannels == 1 || i % 2 == 0 ? 0 : 0xffff0000u;
  }
};

/// Returns the sum of colour `c` in mosaic block `part` of the chunk, over all lanes that share the mosaic
/// block. Call from whole warps.
template <class Chunk>
__device__ uint32_t mosaic_sum(const Chunk& chunk, int part, int c) {
  uint32_t sum = chunk.sum(part, c);
#pragma unroll
  for (int step = 1; step < Chunk::lanes; step *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  return sum;
}

/// Processes the whole image with all warps of the grid; adds this lane's sums to `totals`.
template <class S, int kChannels, int kBlock>
__device__ void mosaic_chunks(const ImageView<const uint8_t>& in, const ImageView<uint8_t>& out,
                              MosaicTotal<S> (&totals)[kChannels == 4 ? 3 : 1]) {
  using Chunk = MosaicChunk<S, kChannels, kBlock>;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int first = static_cast<int>(threadIdx.x / 32 * gridDim.x + blockIdx.x),
            step = static_cast<int>(blockDim.x / 32 * gridDim.x);
  const int chunks = in.extent.width / Chunk::pixels, across = (chunks + 31) / 32,
            down = (in.extent.height + kBlock - 1) / kBlock;
  for (int item = first; item < across * down; item += step) {
    const int line = item / across, at = (item - line * across) * 32 + lane;
    const bool inside = at < chunks;
    const int y = line * kBlock, rows = min(kBlock, in.extent.height - y);
    const uint8_t* from = in.row(y) + 16 * at;
    Chunk chunk;
    if (inside && rows == kBlock) {
#pragma unroll 16
      for (int r = 0; r < kBlock; ++r) chunk.add(*reinterpret_cast<const uint4*>(from + r * in.pitch_bytes));
    } else if (inside) {
      for (int r = 0; r < rows; ++r) chunk.add(*reinterpret_cast<const uint4*>(from + r * in.pitch_bytes));
    }
    uint32_t words[4] = {};
#pragma unroll
    for (int part = 0; part < Chunk::parts; ++part) {
      const int x = at * Chunk::pixels + part * kBlock;
      const int columns = min(kBlock, in.extent.width - x / kBlock * kBlock);
      const auto count = static_cast<uint32_t>(max(columns, 1) * rows);
#pragma unroll
      for (int c = 0; c < Chunk::colours; ++c) {
        const uint32_t sum = mosaic_sum(chunk, part, c), mean = rounded_mean(sum, count);
        if (inside && lane % Chunk::lanes == 0) totals[c] += sum;
#pragma unroll
        for (int i = part * 4 / Chunk::parts; i < (part + 1) * 4 / Chunk::parts; ++i)
          words[i] |= Chunk::bits(i, c, mean);
      }
    }
    if (!inside) continue;
    uint8_t* to = out.row(y) + 16 * at;
#pragma unroll 4
    for (int r = 0; r < rows; ++r, to += out.pitch_bytes, from += in.pitch_bytes) {
      uint4 v = make_uint4(words[0], words[1], words[2], words[3]);
      if constexpr (kChannels == 4) {
        const uint4 own = *reinterpret_cast<const uint4*>(from);
        v.x |= own.x & Chunk::alpha(0), v.y |= own.y & Chunk::alpha(1);
        v.z |= own.z & Chunk::alpha(2), v.w |= own.w & Chunk::alpha(3);
      }
      *reinterpret_cast<uint4*>(to) = v;
    }
  }
}

/// Processes the image, whose samples are of type S, if `block` is 4, 8, 16, 32 or, except for RGBA8, 64.
/// Returns false for other sizes.
template <class S, int kChannels>
__device__ bool mosaic_by_chunks(int block, const ImageView<const uint8_t>& in, const ImageView<uint8_t>& out,
                                 MosaicTotal<S> (&totals)[kChannels == 4 ? 3 : 1]) {
  switch (block) {
    case 4:
      return mosaic_chunks<S, kChannels, 4>(in, out, totals), true;
    case 8:
      return mosaic_chunks<S, kChannels, 8>(in, out, totals), true;
    case 16:
      return mosaic_chunks<S, kChannels, 16>(in, out, totals), true;
    case 32:
      return mosaic_chunks<S, kChannels, 32>(in, out, totals), true;
    case 64:  // RGBA8: too few warps to fill the GPU
      if constexpr (kChannels * sizeof(S) == 4)
        return false;
      else
        return mosaic_chunks<S, kChannels, 64>(in, out, totals), true;
    default:
      return false;
  }
}

}  // namespace lensd
