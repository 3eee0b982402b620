// CUDA error check with expression, file and line.
#pragma once

#include <cuda_runtime_api.h>

namespace lensd {

/// Throws DeviceMemoryError for cudaErrorMemoryAllocation, else Error(runtime_failure). Not inline, to keep
/// <stdexcept> out of .cu files.
[[noreturn]] void throw_cuda(cudaError_t status, const char* expression, const char* file, int line);

}  // namespace lensd

#define LENSD_CUDA_CHECK(expression)                                                                       \
  do {                                                                                                     \
    const cudaError_t lensd_status_ = (expression);                                                        \
    if (lensd_status_ != cudaSuccess) ::lensd::throw_cuda(lensd_status_, #expression, __FILE__, __LINE__); \
  } while (false)
