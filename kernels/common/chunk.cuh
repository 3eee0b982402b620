// Per-pixel kernels in which a thread processes a chunk of 16 bytes (16 Gray8 or 4 RGBA8 pixels) of one row.
//
// Chunks start at multiples of 16 bytes of their row, so that a word holds four Gray8 pixels, one whole RGBA8
// pixel or two 16-bit samples. Full chunks of aligned images are loaded and stored by one 16-byte access,
// others byte by byte.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/common/samples.hpp"

namespace lensd {

struct ChunkShape {
  static constexpr int bytes = 16;
  static constexpr int columns = 32;  ///< threads along the row: one warp reads 512 contiguous bytes
  static constexpr int rows = 8;
};

struct Chunk {
  uint32_t word[4];
};

template <class T>
bool aligned16(const BasicImageRef<T>& image) {
  return rows_aligned(image, 16);
}

/// Returns the grid that covers all chunks. A thread processes one chunk in each of `rows_per_thread` rows,
/// which are ChunkShape::rows apart.
inline dim3 chunk_grid(const ImageFormat& format, int rows_per_thread = 1) {
  return dim3(blocks_for(static_cast<int>(format.row_bytes()), ChunkShape::columns * ChunkShape::bytes),
              blocks_for(format.extent.height, ChunkShape::rows * rows_per_thread));
}
inline dim3 chunk_block() {
  return dim3(ChunkShape::columns, ChunkShape::rows);
}

/// Returns the byte position of this thread's chunk in its row.
__device__ inline int chunk_x() {
  return static_cast<int>(blockIdx.x * ChunkShape::columns + threadIdx.x) * ChunkShape::bytes;
}

/// Grid-stride loop over the image's chunks: chunk `x` of row `y`. x and y advance without divisions.
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

/// Returns the number of blocks for a ChunkWalk, at most `most`.
inline unsigned walk_blocks(const ImageFormat& format, int threads, int most) {
  const int64_t chunks =
      static_cast<int64_t>(blocks_for(static_cast<int>(format.row_bytes()), ChunkShape::bytes)) *
      format.extent.height;
  const int64_t blocks = (chunks + threads - 1) / threads;
  return static_cast<unsigned>(blocks < most ? blocks : most);
}

/// Loads the chunk at `from`. `left` (at least 1) bytes of the row remain; the other bytes of the chunk are
/// 0. `aligned`: `from` is aligned to 16 bytes.
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

/// Calls op(chunk, left) for this thread's chunks in a grid-stride loop over `in`; `left` as in load_chunk().
template <class Op>
__device__ void each_chunk(ImageView<const uint8_t> in, int row_bytes, bool aligned, const Op& op) {
  for (ChunkWalk walk(row_bytes); walk.y < in.extent.height; walk.next()) {
    const int left = row_bytes - walk.x * ChunkShape::bytes;
    op(load_chunk(in.row(walk.y) + walk.x * ChunkShape::bytes, left, aligned), left);
  }
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

/// Returns op(p, q), which must be 0 to 255, for each byte p of `a` and the corresponding byte q of `b`.
template <class Op>
__device__ inline uint32_t each_byte(uint32_t a, uint32_t b, Op op) {
  return op(a & 255, b & 255) | op(a >> 8 & 255, b >> 8 & 255) << 8 | op(a >> 16 & 255, b >> 16 & 255) << 16 |
         op(a >> 24, b >> 24) << 24;
}

/// Returns op(p, q), which must be 0 to 65535, for each 16-bit half p of `a` and the corresponding half q of
/// `b`.
template <class Op>
__device__ inline uint32_t each_half(uint32_t a, uint32_t b, Op op) {
  return op(a & 65535, b & 65535) | op(a >> 16, b >> 16) << 16;
}

/// Returns the bits of a chunk's word `i` that hold colour, for samples of type S.
template <class S>
__device__ constexpr uint32_t chunk_colour(bool gray, int i) {
  if (gray || (sizeof(S) == 2 && i % 2 == 0)) return ~0u;
  return sizeof(S) == 1 ? 0x00ffffffu : 0x0000ffffu;
}

/// Returns `colour` where `mask` is set, and `alpha`'s bits elsewhere.
__device__ inline uint32_t with_alpha(uint32_t colour, uint32_t alpha, uint32_t mask) {
  return (colour & mask) | (alpha & ~mask);
}

/// Position of a thread's chunk: byte x of row y; `left` bytes of the row remain.
struct ChunkPlace {
  int x, y, left;
};

/// Applies op(chunk, place) to every chunk of `in` and writes the result to `out`.
template <class Op>
__global__ void chunk_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, int row_bytes, bool aligned,
                             Op op) {
  const int x = chunk_x(), left = row_bytes - x;
  const int y = static_cast<int>(blockIdx.y * ChunkShape::rows + threadIdx.y);
  if (left <= 0 || y >= in.extent.height) return;
  Chunk chunk = load_chunk(in.row(y) + x, left, aligned);
  op(chunk, ChunkPlace{x, y, left});
  store_chunk(out.row(y) + x, chunk, left, aligned);
}

template <class Op>
void launch_chunks(const ConstImageRef& in, const ImageRef& out, CudaStream stream, const Op& op) {
  chunk_kernel<<<chunk_grid(in.format), chunk_block(), 0, stream>>>(in.as<const uint8_t>(), out.as<uint8_t>(),
                                                                    static_cast<int>(in.row_bytes()),
                                                                    aligned16(in) && aligned16(out), op);
  LENSD_LAUNCHED();
}

}  // namespace lensd
