#include "core/device/cuda_check.hpp"

#include <string>

#include "core/base/error.hpp"

namespace lensd {

void throw_cuda(cudaError_t status, const char* expression, const char* file, int line) {
  throw Error(ExitCode::runtime_failure, std::string(file) + ":" + std::to_string(line),
              std::string(expression) + ": " + cudaGetErrorString(status),
              "see `lensd doctor`; --backend=cpu gives the same output");
}

}  // namespace lensd
