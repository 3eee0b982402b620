#include "kernels/common/deep/pixels.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/grayscale/grayscale.hpp"

namespace lensd {
namespace {

/// A thread converts four pixels: one 16-byte load, one 4-byte store.
struct LumaTuning {
  static constexpr int threads = 256;
  static constexpr int pixels = 4;
};

__device__ uint32_t luma_of(const LumaBlock& w, uint32_t pixel) {
  return luma(w, pixel & 0xff, pixel >> 8 & 0xff, pixel >> 16 & 0xff);
}

__global__ void luma_kernel(ImageView<const uint8_t> rgba, ImageView<uint8_t> gray, const LumaBlock* block,
                            bool wide, bool aligned_in, bool aligned_out) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * LumaTuning::pixels;
  const int y = static_cast<int>(blockIdx.y);
  const int count = min(LumaTuning::pixels, rgba.extent.width - x);
  if (count <= 0) return;
  const LumaBlock w = *block;
  const uint8_t* src = rgba.row(y) + 4 * x;
  uint32_t word = 0;
  if (wide && count == LumaTuning::pixels) {
    const uint4 p = *reinterpret_cast<const uint4*>(src);
    word = luma_of(w, p.x) | luma_of(w, p.y) << 8 | luma_of(w, p.z) << 16 | luma_of(w, p.w) << 24;
  } else {
    for (int i = 0; i < count; ++i) word |= luma_of(w, load_word(src + 4 * i, aligned_in)) << (8 * i);
  }
  store_bytes(gray.row(y) + x, word, count, aligned_out);
}

/// One pixel of 16 bits per sample per thread.
__global__ void luma16_kernel(ImageView<const uint16_t> rgba, ImageView<uint16_t> gray,
                              const LumaBlock* block, bool aligned) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= rgba.extent.width) return;
  const DeepPixel p = load_deep(rgba.row(y) + 4 * x, aligned);
  gray.row(y)[x] = luma16(*block, p.v[0], p.v[1], p.v[2]);
}

}  // namespace

void launch_luma(ConstImageRef rgba, ImageRef gray, const LumaBlock* weights, CudaStream stream) {
  if (rgba.is_deep()) {
    const dim3 blocks(blocks_for(rgba.width(), LumaTuning::threads), static_cast<unsigned>(rgba.height()));
    luma16_kernel<<<blocks, LumaTuning::threads, 0, stream>>>(rgba.as<const uint16_t>(), gray.as<uint16_t>(),
                                                              weights, rows_aligned(rgba, 8));
    LENSD_LAUNCHED();
    return;
  }
  const dim3 grid(blocks_for(rgba.width(), LumaTuning::threads * LumaTuning::pixels),
                  static_cast<unsigned>(rgba.height()));
  luma_kernel<<<grid, LumaTuning::threads, 0, stream>>>(rgba.as<const uint8_t>(), gray.as<uint8_t>(), weights,
                                                        rows_aligned(rgba, 16), rows_aligned(rgba, 4),
                                                        rows_aligned(gray, 4));
  LENSD_LAUNCHED();
}

}  // namespace lensd
