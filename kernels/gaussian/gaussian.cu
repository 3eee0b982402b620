#include "kernels/gaussian/gaussian.hpp"

#include "kernels/gaussian/gaussian_strip.cuh"

namespace lensd {
namespace {

struct KeepBlurred {
  static constexpr bool needs_input = false;
  __device__ explicit KeepBlurred(const GaussianBlock*) {}
};

}  // namespace

void Gaussian::prepare_kernels() {
  prepare_blur<KeepBlurred>();
  prepare_deep_kernels();
}

void Gaussian::launch_apply(const PassArgs& args, CudaStream stream) const {
  args.in[0].is_deep() ? launch_deep(args, stream) : launch_blur<KeepBlurred>(args, stream);
}

}  // namespace lensd
