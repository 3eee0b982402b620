// Memory of the GPU for tests.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace lensd {

/// Returns the free bytes of the current device. Other programs on it change the number, too.
inline size_t free_gpu_bytes() {
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  return free;
}

}  // namespace lensd
