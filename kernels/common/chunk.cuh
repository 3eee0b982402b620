// Per-pixel kernels: a thread takes a chunk of 16 bytes (16 gray or 4 RGBA pixels) of one row.
//
// Chunks start at multiples of 16 bytes of their row, so that a word holds four gray pixels or one whole RGBA
// pixel. Full chunks of aligned images move as one 16-byte word; others go byte by byte.
#pragma once

#include "core/image/view.hpp"
#include "kernels/common/launch.cuh"

namespace lensd {

struct ChunkShape {
  static constexpr int bytes = 16;
  static constexpr int columns = 32;  ///< threads along the row: one warp reads 512 bytes in sequence
  static constexpr int rows = 8;
};

struct Chunk {
  uint32_t word[4];
};

template <class T>
bool aligned16(const BasicImageRef<T>& image) {
  return ((reinterpret_cast<uintptr_t>(image.data) | static_cast<uintptr_t>(image.pitch_bytes)) & 15) == 0;
}

/// Blocks that give every chunk a thread; `rows_per_thread` rows lie ChunkShape::rows apart.
inline dim3 chunk_grid(const ImageFormat& format, int rows_per_thread = 1) {
  return dim3(blocks_for(static_cast<int>(format.row_bytes()), ChunkShape::columns * ChunkShape::bytes),
              blocks_for(format.extent.height, ChunkShape::rows * rows_per_thread));
}
inline dim3 chunk_block() {
  return dim3(ChunkShape::columns, ChunkShape::rows);
}

/// Byte position of this thread's chunk in its row.
__device__ inline int chunk_x() {
  return static_cast<int>(blockIdx.x * ChunkShape::columns + threadIdx.x) * ChunkShape::bytes;
}

/// The image's chunks in order, each thread taking every n-th; x and y go along without divisions.
struct ChunkWalk {
  int x, y, step_x, step_y, columns;

  __device__ explicit ChunkWalk(int row_bytes) {
    columns = (row_bytes + ChunkShape::bytes - 1) / ChunkShape::bytes;
    const int start = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int step = static_cast<int>(gridDim.x * blockDim.x);
    x = start % columns, y = start / columns, step_x = step % columns, step_y = step / columns;
  }
  __device__ void next() {
    x += step_x, y += step_y;
    if (x >= columns) x -= columns, ++y;
  }
};

/// The bytes from `from` on, of which `left` (at least 1) belong to the row; the chunk's rest is 0.
__device__ inline Chunk load_chunk(const uint8_t* from, int left, bool aligned) {
  Chunk chunk{};
  if (aligned && left >= ChunkShape::bytes) {
    const uint4 v = *reinterpret_cast<const uint4*>(from);
    return {{v.x, v.y, v.z, v.w}};
  }
#pragma unroll
  for (int i = 0; i < ChunkShape::bytes; ++i)
    if (i < left) chunk.word[i / 4] |= static_cast<uint32_t>(from[i]) << (i % 4 * 8);
  return chunk;
}

__device__ inline void store_chunk(uint8_t* to, const Chunk& chunk, int left, bool aligned) {
  if (aligned && left >= ChunkShape::bytes) {
    *reinterpret_cast<uint4*>(to) = make_uint4(chunk.word[0], chunk.word[1], chunk.word[2], chunk.word[3]);
    return;
  }
#pragma unroll
  for (int i = 0; i < ChunkShape::bytes; ++i)
    if (i < left) to[i] = static_cast<uint8_t>(chunk.word[i / 4] >> (i % 4 * 8));
}

/// Applies `op(byte)` to each of the word's four bytes.
template <class Op>
__device__ inline uint32_t each_byte(uint32_t word, Op op) {
  return op(word & 255) | op(word >> 8 & 255) << 8 | op(word >> 16 & 255) << 16 | op(word >> 24) << 24;
}

/// The same for two words' bytes in pairs.
template <class Op>
__device__ inline uint32_t each_byte(uint32_t a, uint32_t b, Op op) {
  return op(a & 255, b & 255) | op(a >> 8 & 255, b >> 8 & 255) << 8 | op(a >> 16 & 255, b >> 16 & 255) << 16 |
         op(a >> 24, b >> 24) << 24;
}

/// Bits of an RGBA word that hold colour, or all of a gray word.
LENSD_HD inline constexpr uint32_t colour_bits(PixelFormat format) {
  return format == PixelFormat::gray8 ? 0xffffffffu : 0x00ffffffu;
}

/// `colour` where `mask` is set, `alpha`'s bits elsewhere.
__device__ inline uint32_t with_alpha(uint32_t colour, uint32_t alpha, uint32_t mask) {
  return (colour & mask) | (alpha & ~mask);
}

}  // namespace lensd
