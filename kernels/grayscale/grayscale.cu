#include "kernels/common/launch.cuh"
#include "kernels/grayscale/grayscale.hpp"

namespace lensd {
namespace {

/// A thread converts four RGBA8 pixels or two RGBA16 pixels: one 16-byte load, one 4-byte store.
struct LumaTuning {
  static constexpr int threads = 256;
  static constexpr int pixels = 4, deep_pixels = 2;
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

__global__ void luma16_kernel(ImageView<const uint16_t> rgba, ImageView<uint16_t> gray,
                              const LumaBlock* block, bool wide) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * LumaTuning::deep_pixels;
  const int y = static_cast<int>(blockIdx.y);
  const int count = min(LumaTuning::deep_pixels, rgba.extent.width - x);
  if (count <= 0) return;
  const LumaBlock w = *block;
  const uint16_t* from = rgba.row(y) + 4 * x;
  uint16_t* to = gray.row(y) + x;
  if (wide && count == LumaTuning::deep_pixels) {
    const uint4 p = *reinterpret_cast<const uint4*>(from);
    *reinterpret_cast<ushort2*>(to) = make_ushort2(luma16(w, p.x & 65535, p.x >> 16, p.y & 65535),
                                                   luma16(w, p.z & 65535, p.z >> 16, p.w & 65535));
  } else {
    for (int i = 0; i < count; ++i) to[i] = luma16(w, from[4 * i], from[4 * i + 1], from[4 * i + 2]);
  }
}

}  // namespace

void launch_luma(ConstImageRef rgba, ImageRef gray, const LumaBlock* weights, CudaStream stream) {
  if (rgba.is_deep()) {
    const dim3 blocks(blocks_for(rgba.width(), LumaTuning::threads * LumaTuning::deep_pixels),
                      static_cast<unsigned>(rgba.height()));
    luma16_kernel<<<blocks, LumaTuning::threads, 0, stream>>>(
        rgba.as<const uint16_t>(), gray.as<uint16_t>(), weights,
        rows_aligned(rgba, 16) && rows_aligned(gray, 4));
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
