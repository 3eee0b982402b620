// The kernel of launch_lut(), also for filters that process each pixel further after the table.
#pragma once

#include "kernels/common/chunk.cuh"
#include "kernels/common/table/lut.hpp"

namespace lensd {

/// Rows per thread. With several rows, a block loads its tables less often.
inline constexpr int kLutRows = 4;

/// Computes out = post(table[in]); `post` takes an RGBA pixel (or four grey pixels) as a word.
template <class Post>
__global__ void lut_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, int row_bytes, bool gray,
                           bool aligned, const LutTables* tables, Post post) {
  __shared__ uint32_t words[sizeof(LutTables) / 4];
  const int threads = ChunkShape::columns * ChunkShape::rows;
  const int thread = static_cast<int>(threadIdx.y * ChunkShape::columns + threadIdx.x);
  // Words of the tables; grey has one table.
  const int used = gray ? 256 / 4 : static_cast<int>(sizeof(LutTables) / 4);
  for (int i = thread; i < used; i += threads) words[i] = reinterpret_cast<const uint32_t*>(tables)[i];
  __syncthreads();
  const uint8_t* red = reinterpret_cast<const uint8_t*>(words);
  const uint8_t* green = gray ? red : red + 256;
  const uint8_t* blue = gray ? red : red + 512;

  const int x = chunk_x(), left = row_bytes - x;
  if (left <= 0) return;
  const int first =
      static_cast<int>(blockIdx.y) * ChunkShape::rows * kLutRows + static_cast<int>(threadIdx.y);
#pragma unroll
  for (int i = 0; i < kLutRows; ++i) {
    const int y = first + i * ChunkShape::rows;
    if (y >= in.extent.height) return;
    Chunk chunk = load_chunk(in.row(y) + x, left, aligned);
#pragma unroll
    for (uint32_t& w : chunk.word) {
      const uint32_t last = gray ? static_cast<uint32_t>(red[w >> 24]) : w >> 24;
      w = post(red[w & 255] | static_cast<uint32_t>(green[w >> 8 & 255]) << 8 |
               static_cast<uint32_t>(blue[w >> 16 & 255]) << 16 | last << 24);
    }
    store_chunk(out.row(y) + x, chunk, left, aligned);
  }
}

template <class Post>
void launch_lut(const ConstImageRef& in, const ImageRef& out, const LutTables* tables, CudaStream stream,
                Post post) {
  lut_kernel<<<chunk_grid(in.format, kLutRows), chunk_block(), 0, stream>>>(
      in.as<const uint8_t>(), out.as<uint8_t>(), static_cast<int>(in.row_bytes()),
      in.format.format == PixelFormat::gray8, aligned16(in) && aligned16(out), tables, post);
  LENSD_LAUNCHED();
}

}  // namespace lensd
