#include "kernels/gaussian/deep_gaussian.cuh"
#include "kernels/gaussian/gaussian.hpp"

namespace lensd {
namespace {

struct KeepDeepBlur : KeepDeep {
  __device__ explicit KeepDeepBlur(const GaussianBlock*) {}
};

}  // namespace

void Gaussian::prepare_deep_kernels() {
  prepare_deep_blur<KeepDeepBlur>();
}

void Gaussian::launch_deep(const PassArgs& args, CudaStream stream) const {
  launch_deep_blur<KeepDeepBlur>(args.in[0], args.out, static_cast<const GaussianBlock*>(args.block), stream);
}

}  // namespace lensd
