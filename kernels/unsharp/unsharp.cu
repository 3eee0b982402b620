#include "kernels/common/launch.cuh"
#include "kernels/unsharp/unsharp.hpp"

namespace lensd {
namespace {

/// 16 bytes a thread, the copy shape.
struct UnsharpTuning {
  static constexpr int threads = 256;
  static constexpr int bytes_per_thread = 16;
};

__device__ uint32_t sharpened(uint32_t in, uint32_t blurred, int amount, int threshold) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i)
    word |=
        static_cast<uint32_t>(unsharp_value(static_cast<int>(in >> (8 * i) & 255),
                                            static_cast<int>(blurred >> (8 * i) & 255), amount, threshold))
        << (8 * i);
  return word;
}

/// `out` holds the blurred picture; alpha is the same in both and stays.
__global__ void unsharp_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, int row_bytes,
                               bool aligned, const UnsharpBlock* __restrict__ block) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * UnsharpTuning::bytes_per_thread;
  const int y = static_cast<int>(blockIdx.y);
  if (x >= row_bytes) return;
  const int amount = block->amount, threshold = block->threshold;
  const uint8_t* from = in.row(y) + x;
  uint8_t* to = out.row(y) + x;
  if (aligned && x + UnsharpTuning::bytes_per_thread <= row_bytes) {
    const uint4 v = *reinterpret_cast<const uint4*>(from);
    uint4 b = *reinterpret_cast<const uint4*>(to);
    b.x = sharpened(v.x, b.x, amount, threshold), b.y = sharpened(v.y, b.y, amount, threshold);
    b.z = sharpened(v.z, b.z, amount, threshold), b.w = sharpened(v.w, b.w, amount, threshold);
    *reinterpret_cast<uint4*>(to) = b;
    return;
  }
  const int n = min(UnsharpTuning::bytes_per_thread, row_bytes - x);
  for (int i = 0; i < n; ++i) to[i] = unsharp_value(from[i], to[i], amount, threshold);
}

}  // namespace

void Unsharp::launch(const PassArgs& args, CudaStream stream) const {
  if (args.pass == 0) return blur_.launch(args, stream);
  const ConstImageRef in = args.in[0];
  const int row_bytes = static_cast<int>(in.row_bytes());
  const dim3 grid(blocks_for(row_bytes, UnsharpTuning::threads * UnsharpTuning::bytes_per_thread),
                  static_cast<unsigned>(in.height()));
  unsharp_kernel<<<grid, UnsharpTuning::threads, 0, stream>>>(
      in.as<const uint8_t>(), args.out.as<uint8_t>(), row_bytes,
      rows_aligned(in, 16) && rows_aligned(args.out, 16), static_cast<const UnsharpBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
