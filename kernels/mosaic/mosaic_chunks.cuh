// Mosaic blocks of 4, 8, 16 and 32 pixels (for gray also 64) by chunks of 16 bytes: a warp takes 512 bytes of
// one row of mosaic blocks, and each lane sums one chunk down its rows. Lanes of one mosaic block combine
// their sums by shuffles.
//
// Requires rows of whole chunks, aligned to 16 bytes. Other images and block sizes use the tiles of
// mosaic.cu.
#pragma once

#include "kernels/common/launch.cuh"
#include "kernels/mosaic/mosaic.hpp"

namespace lensd {

template <int kChannels, int kBlock>
struct MosaicChunk {
  static constexpr int colours = kChannels == 4 ? 3 : 1;
  static constexpr int pixels = 16 / kChannels;
  static constexpr int parts = pixels > kBlock ? pixels / kBlock : 1;  ///< mosaic blocks per chunk
  static constexpr int lanes = kBlock > pixels ? kBlock / pixels : 1;  ///< lanes that share a mosaic block

  /// Sums down the chunk's columns. Gray: sums[i] is the sum of word i's four pixels. RGBA: word i is a
  /// pixel; sums[i] holds red in the low half and blue in the high half, sums[4 + i] green.
  uint32_t sums[kChannels == 4 ? 8 : 4] = {};

  /// Adds a row of the chunk. Call for at most 64 rows: halves hold 64 · 255.
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
  /// Returns the sum of colour `c` in mosaic block `part` of the chunk, over all lanes that share the mosaic
  /// block. Call with whole warps.
  __device__ uint32_t total(int part, int c) const {
    uint32_t sum = 0;
#pragma unroll
    for (int i = part * 4 / parts; i < (part + 1) * 4 / parts; ++i) {
      if constexpr (kChannels == 1)
        sum += sums[i];
      else
        sum += c == 1 ? sums[4 + i] : c == 0 ? sums[i] & 0xffff : sums[i] >> 16;
    }
#pragma unroll
    for (int step = 1; step < lanes; step *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    return sum;
  }
};

__device__ inline uint4 filled(const uint32_t (&words)[4]) {
  return make_uint4(words[0], words[1], words[2], words[3]);
}

/// Processes the whole image with all warps of the grid; adds this lane's sums to `totals`.
template <int kChannels, int kBlock>
__device__ void mosaic_chunks(const ImageView<const uint8_t>& in, const ImageView<uint8_t>& out,
                              uint32_t (&totals)[kChannels == 4 ? 3 : 1]) {
  using Chunk = MosaicChunk<kChannels, kBlock>;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int first = static_cast<int>(threadIdx.x / 32 * gridDim.x + blockIdx.x),
            step = static_cast<int>(blockDim.x / 32 * gridDim.x);
  const int chunks = in.extent.width * kChannels / 16, across = (chunks + 31) / 32,
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
      uint32_t pixel = 0;
#pragma unroll
      for (int c = 0; c < Chunk::colours; ++c) {
        const uint32_t sum = chunk.total(part, c);
        if (inside && lane % Chunk::lanes == 0) totals[c] += sum;
        pixel |= rounded_mean(sum, count) << (8 * c);
      }
      if constexpr (kChannels == 1) pixel *= 0x01010101u;
#pragma unroll
      for (int i = part * 4 / Chunk::parts; i < (part + 1) * 4 / Chunk::parts; ++i) words[i] = pixel;
    }
    if (!inside) continue;
    uint8_t* to = out.row(y) + 16 * at;
#pragma unroll 4
    for (int r = 0; r < rows; ++r, to += out.pitch_bytes, from += in.pitch_bytes) {
      uint4 v = filled(words);
      if constexpr (kChannels == 4) {
        const uint4 own = *reinterpret_cast<const uint4*>(from);
        v.x |= own.x & 0xff000000u, v.y |= own.y & 0xff000000u;
        v.z |= own.z & 0xff000000u, v.w |= own.w & 0xff000000u;
      }
      *reinterpret_cast<uint4*>(to) = v;
    }
  }
}

/// Processes the image if `block` is 4, 8, 16, 32 or, for gray, 64. Returns false for other sizes.
template <int kChannels>
__device__ bool mosaic_by_chunks(int block, const ImageView<const uint8_t>& in, const ImageView<uint8_t>& out,
                                 uint32_t (&totals)[kChannels == 4 ? 3 : 1]) {
  switch (block) {
    case 4:
      return mosaic_chunks<kChannels, 4>(in, out, totals), true;
    case 8:
      return mosaic_chunks<kChannels, 8>(in, out, totals), true;
    case 16:
      return mosaic_chunks<kChannels, 16>(in, out, totals), true;
    case 32:
      return mosaic_chunks<kChannels, 32>(in, out, totals), true;
    case 64:  // RGBA would need 16 lanes per mosaic block: too few warps to fill the GPU
      if constexpr (kChannels == 1) return mosaic_chunks<1, 64>(in, out, totals), true;
      return false;
    default:
      return false;
  }
}

}  // namespace lensd
