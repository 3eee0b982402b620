#include "kernels/common/pixel_words.cuh"
#include "kernels/rotate/rotate.hpp"

namespace lensd {
namespace {

/// Squares of input pixels are transposed in shared memory, so that global memory is read and written along
/// rows. One padding word per row avoids bank conflicts of column accesses.
struct RotateTuning {
  static constexpr int rgba_side = 32, rgba_rows = 8;    // 32 × 8 threads, 4 pixels each
  static constexpr int gray_side = 64, gray_words = 16;  // 16 × 16 threads, 4 × 4 pixels each
};

__global__ void rotate_rgba_kernel(RotateAngle angle, Extent extent, PixelWordsIn in, PixelWordsOut out) {
  constexpr int side = RotateTuning::rgba_side;
  __shared__ uint32_t tile[side][side + 1];
  const int x0 = static_cast<int>(blockIdx.x) * side, y0 = static_cast<int>(blockIdx.y) * side;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  for (int i = ty; i < side; i += RotateTuning::rgba_rows)
    if (x0 + tx < extent.width && y0 + i < extent.height) tile[i][tx] = in.at(x0 + tx, y0 + i);
  __syncthreads();
  for (int i = ty; i < side; i += RotateTuning::rgba_rows)
    if (x0 + i < extent.width && y0 + tx < extent.height) {
      const RotateTarget to = rotate_target(angle, extent, x0 + i, y0 + tx);
      out.set(to.x, to.y, tile[tx][i]);
    }
}

/// Loads min(n, 4) Gray8 pixels of a row as a word; missing pixels are 0.
__device__ uint32_t load4(const uint8_t* p, int n, bool aligned) {
  if (n >= 4 && aligned) return *reinterpret_cast<const uint32_t*>(p);
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i)
    if (i < n) word |= static_cast<uint32_t>(p[i]) << (i * 8);
  return word;
}

__global__ void rotate_gray_kernel(RotateAngle angle, ImageView<const uint8_t> in, ImageView<uint8_t> out,
                                   bool aligned) {
  constexpr int side = RotateTuning::gray_side, words = RotateTuning::gray_words;
  __shared__ uint32_t tile[side][words + 1];  // a row holds an input column, a word 4 of its pixels
  const int x0 = static_cast<int>(blockIdx.x) * side, y0 = static_cast<int>(blockIdx.y) * side;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  uint32_t r[4];
  for (int i = 0; i < 4; ++i) {
    const int y = y0 + ty * 4 + i, n = y < in.extent.height ? in.extent.width - (x0 + tx * 4) : 0;
    r[i] = n > 0 ? load4(in.row(y) + x0 + tx * 4, n, aligned) : 0;
  }
  const uint32_t a = __byte_perm(r[0], r[1], 0x5140), b = __byte_perm(r[2], r[3], 0x5140);
  const uint32_t c = __byte_perm(r[0], r[1], 0x7362), d = __byte_perm(r[2], r[3], 0x7362);
  tile[tx * 4 + 0][ty] = __byte_perm(a, b, 0x5410);
  tile[tx * 4 + 1][ty] = __byte_perm(a, b, 0x7632);
  tile[tx * 4 + 2][ty] = __byte_perm(c, d, 0x5410);
  tile[tx * 4 + 3][ty] = __byte_perm(c, d, 0x7632);
  __syncthreads();
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(&tile[0][0]);
  const int column =
      static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x) % side;  // input row within the tile
  for (int i = (ty * words + tx) / side; i < side; i += words * words / side) {
    const int x = x0 + i, y = y0 + column;
    if (x >= in.extent.width || y >= in.extent.height) continue;
    const RotateTarget to = rotate_target(angle, in.extent, x, y);
    out.at(to.x, to.y) = bytes[i * (words + 1) * 4 + column];
  }
}

/// Rotates squares of pixels with 16 bits per sample.
template <int kChannels>
__global__ void rotate_deep_kernel(RotateAngle angle, ImageView<const uint16_t> in, ImageView<uint16_t> out) {
  constexpr int side = RotateTuning::rgba_side;
  __shared__ uint16_t tile[kChannels][side][side + 2];
  const int x0 = static_cast<int>(blockIdx.x) * side, y0 = static_cast<int>(blockIdx.y) * side;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  for (int i = ty; i < side; i += RotateTuning::rgba_rows)
    if (x0 + tx < in.extent.width && y0 + i < in.extent.height)
      for (int c = 0; c < kChannels; ++c) tile[c][i][tx] = in.row(y0 + i)[(x0 + tx) * kChannels + c];
  __syncthreads();
  for (int i = ty; i < side; i += RotateTuning::rgba_rows)
    if (x0 + i < in.extent.width && y0 + tx < in.extent.height) {
      const RotateTarget to = rotate_target(angle, in.extent, x0 + i, y0 + tx);
      for (int c = 0; c < kChannels; ++c) out.row(to.y)[to.x * kChannels + c] = tile[c][tx][i];
    }
}

}  // namespace

void Rotate::launch_apply(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  if (angle_ == RotateAngle::half)
    return launch_flip(&static_cast<const RotateBlock*>(args.block)->half, in, args.out, stream);
  const bool rgba = in.channels() == 4;
  if (in.is_deep()) {
    constexpr int deep_side = RotateTuning::rgba_side;
    const dim3 squares(blocks_for(in.width(), deep_side), blocks_for(in.height(), deep_side));
    (rgba ? rotate_deep_kernel<4>
          : rotate_deep_kernel<1>)<<<squares, dim3(deep_side, RotateTuning::rgba_rows), 0, stream>>>(
        angle_, in.as<const uint16_t>(), args.out.as<uint16_t>());
    LENSD_LAUNCHED();
    return;
  }
  const int side = rgba ? RotateTuning::rgba_side : RotateTuning::gray_side;
  const dim3 grid(blocks_for(in.width(), side), blocks_for(in.height(), side));
  if (rgba) {
    rotate_rgba_kernel<<<grid, dim3(side, RotateTuning::rgba_rows), 0, stream>>>(
        angle_, in.format.extent, PixelWordsIn(in), PixelWordsOut(args.out));
  } else {
    const bool aligned = rows_aligned(in, 4);
    rotate_gray_kernel<<<grid, dim3(RotateTuning::gray_words, RotateTuning::gray_words), 0, stream>>>(
        angle_, in.as<const uint8_t>(), args.out.as<uint8_t>(), aligned);
  }
  LENSD_LAUNCHED();
}

}  // namespace lensd
