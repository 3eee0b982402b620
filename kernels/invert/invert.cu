#include "kernels/common/launch.cuh"
#include "kernels/invert/invert.hpp"

namespace lensd {
namespace {

/// One 16-byte load and store a thread: the copy shape.
struct InvertTuning {
  static constexpr int threads = 256;
  static constexpr int bytes_per_thread = 16;
};

__global__ void invert_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, int row_bytes,
                              uint32_t mask, bool aligned) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * InvertTuning::bytes_per_thread;
  const int y = static_cast<int>(blockIdx.y);
  if (x >= row_bytes) return;
  const uint8_t* src = in.row(y) + x;
  uint8_t* dst = out.row(y) + x;
  if (aligned && x + InvertTuning::bytes_per_thread <= row_bytes) {
    uint4 v = *reinterpret_cast<const uint4*>(src);
    v.x ^= mask, v.y ^= mask, v.z ^= mask, v.w ^= mask;
    *reinterpret_cast<uint4*>(dst) = v;
    return;
  }
  const int n = min(InvertTuning::bytes_per_thread, row_bytes - x);
  for (int i = 0; i < n; ++i) dst[i] = static_cast<uint8_t>(src[i] ^ (mask >> (i % 4 * 8)));
}

}  // namespace

void Invert::launch(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const int row_bytes = static_cast<int>(in.row_bytes());
  const bool aligned =
      ((reinterpret_cast<uintptr_t>(in.data) | reinterpret_cast<uintptr_t>(args.out.data) |
        static_cast<uintptr_t>(in.pitch_bytes) | static_cast<uintptr_t>(args.out.pitch_bytes)) &
       15) == 0;
  const dim3 grid(blocks_for(row_bytes, InvertTuning::threads * InvertTuning::bytes_per_thread),
                  static_cast<unsigned>(in.height()));
  invert_kernel<<<grid, InvertTuning::threads, 0, stream>>>(
      in.as<const uint8_t>(), args.out.as<uint8_t>(), row_bytes, invert_mask(in.format.format), aligned);
  LENSD_LAUNCHED();
}

}  // namespace lensd
