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

__device__ ushort4 rgba(uint16_t v) {
  return make_ushort4(v, v, v, 65535);
}
__device__ ushort4 rgba(Rgba16 v) {
  return make_ushort4(v.r, v.g, v.b, v.a);
}

template <class T>
__global__ void write_pixels(ImageView<const T> in, cudaSurfaceObject_t surface) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= in.extent.width || y >= in.extent.height) return;
  const auto pixel = rgba(in.at(x, y));
  surf2Dwrite(pixel, surface, x * static_cast<int>(sizeof(pixel)), y);
}

}  // namespace

void write_surface(ConstImageRef image, cudaSurfaceObject_t surface, CUstream_st* stream) {
  using T = PresentTuning;
  const dim3 block(T::block_x, T::block_y);
  const dim3 grid(static_cast<unsigned>((image.width() + T::block_x - 1) / T::block_x),
                  static_cast<unsigned>((image.height() + T::block_y - 1) / T::block_y));
  const auto write = [&](auto view) { write_pixels<<<grid, block, 0, stream>>>(view, surface); };
  if (image.is_deep())
    is_gray(image.format.format) ? write(image.as<const uint16_t>()) : write(image.as<const Rgba16>());
  else
    is_gray(image.format.format) ? write(image.as<const uint8_t>()) : write(image.as<const uchar4>());
  LENSD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace lensd::ui
