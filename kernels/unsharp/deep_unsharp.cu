#include "kernels/gaussian/deep_gaussian.cuh"
#include "kernels/unsharp/unsharp.hpp"

namespace lensd {
namespace {

struct SharpenDeep {
  static constexpr bool needs_input = true;
  int amount, threshold;

  __device__ explicit SharpenDeep(const GaussianBlock* blur) {
    const auto* block = reinterpret_cast<const UnsharpBlock*>(blur);
    amount = block->amount, threshold = block->deep_threshold;
  }
  __device__ int operator()(int in, int blurred) const {
    return deep_unsharp_value(in, blurred, amount, threshold);
  }
};

}  // namespace

void prepare_deep_unsharp_kernels() {
  prepare_deep_blur<SharpenDeep>();
}

void Unsharp::launch_deep(const PassArgs& args, CudaStream stream) const {
  launch_deep_blur<SharpenDeep>(args.in[0], args.out, static_cast<const GaussianBlock*>(args.block), stream);
}

}  // namespace lensd
