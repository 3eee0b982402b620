#include "core/device/cuda_check.hpp"

#include <string>

#include "core/device/device_memory_error.hpp"
#include "core/device/gpu_support.hpp"

namespace lensd {

void throw_cuda(cudaError_t status, const char* expression, const char* file, int line) {
  const std::string hint = cuda_error_hint(cudaGetErrorName(status));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // clears the error: the context still works
    throw DeviceMemoryError(std::string("not enough for ") + expression,
                            "use a smaller picture or fewer nodes, or --backend=cpu");
  }
  throw Error(ExitCode::runtime_failure, std::string(file) + ":" + std::to_string(line),
              std::string(expression) + ": " + cudaGetErrorString(status),
              (hint.empty() ? "see `lensd doctor`" : hint) + "; --backend=cpu gives the same output");
}

}  // namespace lensd
