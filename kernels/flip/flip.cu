#include "kernels/common/bytes16.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/flip/flip.hpp"

namespace lensd {
namespace {

/// A thread writes 16 bytes of output.
struct FlipTuning {
  static constexpr int threads = 128;
};

__global__ void flip_kernel(const FlipBlock* flip, ImageView<const uint8_t> in, ImageView<uint8_t> out,
                            int row_bytes, int pixel_bytes) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 16;
  if (x >= row_bytes) return;
  const int y = static_cast<int>(blockIdx.y);
  const uint8_t* row = in.row(flip->y ? static_cast<int>(gridDim.y) - 1 - y : y);
  const int n = min(16, row_bytes - x);
  if (!flip->x) {
    store16(out.row(y) + x, load16(row + x, row, row + row_bytes), n);
    return;
  }
  // Load the 16 bytes that end `x` bytes before the row's end. Bytes before the row's start are loaded as 0;
  // after the reversal they follow the n bytes that are stored.
  const uint4 v = load16(row + row_bytes - x - 16, row, row + row_bytes);
  uint4 pixels{v.w, v.z, v.y, v.x};
  if (pixel_bytes == 8) pixels = {v.z, v.w, v.x, v.y};
  if (pixel_bytes < 4) {
    const uint32_t order = pixel_bytes == 1 ? 0x0123 : 0x1032;
    pixels = {__byte_perm(v.w, 0, order), __byte_perm(v.z, 0, order), __byte_perm(v.y, 0, order),
              __byte_perm(v.x, 0, order)};
  }
  store16(out.row(y) + x, pixels, n);
}

}  // namespace

void launch_flip(const FlipBlock* flip, const ConstImageRef& in, const ImageRef& out, CudaStream stream) {
  const int row_bytes = static_cast<int>(in.row_bytes());
  const dim3 grid(blocks_for(row_bytes, FlipTuning::threads * 16), static_cast<unsigned>(in.height()));
  flip_kernel<<<grid, FlipTuning::threads, 0, stream>>>(flip, in.as<const uint8_t>(), out.as<uint8_t>(),
                                                        row_bytes, in.pixel_bytes());
  LENSD_LAUNCHED();
}

void Flip::launch_apply(const PassArgs& args, CudaStream stream) const {
  launch_flip(static_cast<const FlipBlock*>(args.block), args.in[0], args.out, stream);
}

}  // namespace lensd
