#include <surface_indirect_functions.h>

#include "ui/gl/cuda_present.hpp"

namespace lensd::ui {
namespace {

/// One pixel per thread. The kernel is memory bound; rows of 32 pixels read and write whole sectors.
struct PresentTuning {
  static constexpr int block_x = 32, block_y = 8;
};

__device__ uchar4 rgba(uint8_t v) {
  return make_uchar4(v, v, v, 255);
}
__device__ uchar4 rgba(uchar4 v) {
  return v;
}

template <class T>
__global__ void write_pixels(ImageView<const T> in, cudaSurfaceObject_t surface) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= in.extent.width || y >= in.extent.height) return;
  surf2Dwrite(rgba(in.at(x, y)), surface, x * static_cast<int>(sizeof(uchar4)), y);
}

}  // namespace

void write_surface(ConstImageRef image, cudaSurfaceObject_t surface, CUstream_st* stream) {
  using T = PresentTuning;
  const dim3 block(T::block_x, T::block_y);
  const dim3 grid(static_cast<unsigned>((image.width() + T::block_x - 1) / T::block_x),
                  static_cast<unsigned>((image.height() + T::block_y - 1) / T::block_y));
  if (image.format.format == PixelFormat::gray8) {
    write_pixels<<<grid, block, 0, stream>>>(image.as<const uint8_t>(), surface);
  } else {
    write_pixels<<<grid, block, 0, stream>>>(image.as<const uchar4>(), surface);
  }
  LENSD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace lensd::ui
