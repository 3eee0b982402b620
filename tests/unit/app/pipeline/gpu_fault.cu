#include "tests/unit/app/pipeline/gpu_fault.hpp"

namespace lensd {
namespace {

__global__ void trap_kernel() {
  __trap();
}

}  // namespace

void fail_gpu() {
  trap_kernel<<<1, 1>>>();
}

}  // namespace lensd
