// CUDA calls checked with expression, file and line. Included by core/device and by .cu files only.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "core/base/error.hpp"

namespace lensd {

[[noreturn]] inline void throw_cuda(cudaError_t status, const char* expression, const char* file, int line) {
  throw Error(ExitCode::runtime_failure, std::string(file) + ":" + std::to_string(line),
              std::string(expression) + ": " + cudaGetErrorString(status),
              "see `lensd doctor`; --backend=cpu gives the same output");
}

}  // namespace lensd

#define LENSD_CUDA_CHECK(expression)                                                                       \
  do {                                                                                                     \
    const cudaError_t lensd_status_ = (expression);                                                        \
    if (lensd_status_ != cudaSuccess) ::lensd::throw_cuda(lensd_status_, #expression, __FILE__, __LINE__); \
  } while (false)
