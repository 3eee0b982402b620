#include "kernels/gaussian/deep_gaussian.cuh"
#include "kernels/gaussian/gaussian.hpp"

namespace lensd {
namespace {

struct KeepDeep {
  __device__ explicit KeepDeep(const GaussianBlock*) {}
  __device__ int operator()(int, int blurred) const { return blurred; }
};

}  // namespace

void Gaussian::launch_deep(const PassArgs& args, CudaStream stream) const {
  launch_deep_blur<KeepDeep>(args.in[0], args.out, static_cast<const GaussianBlock*>(args.block), stream);
}

}  // namespace lensd
