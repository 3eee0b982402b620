#include "kernels/gaussian/gaussian_strip.cuh"
#include "kernels/unsharp/unsharp.hpp"

namespace lensd {
namespace {

/// Sharpens blurred pixels just before the blur stores them, while the input's pixels are in shared memory.
/// Alpha is equal in both pictures and does not change.
struct Sharpen {
  static constexpr bool needs_input = true;
  int amount, threshold;

  __device__ explicit Sharpen(const GaussianBlock* blur) {
    const auto* block = reinterpret_cast<const UnsharpBlock*>(blur);
    amount = block->amount, threshold = block->threshold;
  }
  __device__ uint32_t operator()(uint32_t blurred, uint32_t in) const {
    uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      word |=
          static_cast<uint32_t>(unsharp_value(static_cast<int>(in >> (8 * i) & 255),
                                              static_cast<int>(blurred >> (8 * i) & 255), amount, threshold))
          << (8 * i);
    return word;
  }
};

}  // namespace

void prepare_unsharp_kernels() {
  prepare_blur<Sharpen>();
  prepare_deep_unsharp_kernels();
}

void Unsharp::launch_apply(const PassArgs& args, CudaStream stream) const {
  args.in[0].is_deep() ? launch_deep(args, stream) : launch_blur<Sharpen>(args, stream);
}

}  // namespace lensd
