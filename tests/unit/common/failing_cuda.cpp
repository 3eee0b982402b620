#include "tests/unit/common/failing_cuda.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <utility>

namespace {

using Word = long;  // the replaced functions have integer arguments that take up to ten words

enum Index : size_t {
#define CUDA_CALL(name, error) k_##name,
#include "tests/unit/common/cuda_calls.inc"
#undef CUDA_CALL
  kFunctions
};

constexpr std::array<const char*, kFunctions> kNames = {
#define CUDA_CALL(name, error) #name,
#include "tests/unit/common/cuda_calls.inc"
#undef CUDA_CALL
};

constexpr std::array<cudaError_t, kFunctions> kErrors = {
#define CUDA_CALL(name, error) error,
#include "tests/unit/common/cuda_calls.inc"
#undef CUDA_CALL
};

std::array<std::atomic<int64_t>, kFunctions> g_counts;
std::atomic<size_t> g_function{0};
std::atomic<int64_t> g_number{0};
std::atomic<bool> g_failed{false}, g_memory{false};
thread_local cudaError_t t_last = cudaSuccess;  // the last error, kept until cudaGetLastError()

bool fails(size_t function) {
  const int64_t number = g_counts[function].fetch_add(1) + 1;
  if (function != g_function || number != g_number) return false;
  g_failed = true, t_last = g_memory ? cudaErrorMemoryAllocation : kErrors[function];
  return true;
}

}  // namespace

// The linker replaces calls of NAME by calls of __wrap_NAME, and calls of __real_NAME by calls of NAME.
// NOLINTBEGIN(bugprone-reserved-identifier): names that the linker prescribes
#define CUDA_CALL(name, error)                                                                          \
  extern "C" Word __real_##name(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);            \
  extern "C" Word __wrap_##name(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, \
                                Word j) {                                                               \
    const bool failed = fails(k_##name);                                                                \
    const cudaError_t status_if_failed = t_last;                                                        \
    if (failed && k_##name != k_cudaStreamEndCapture) return status_if_failed;                          \
    const Word status = __real_##name(a, b, c, d, e, f, g, h, i, j);                                    \
    if (!failed) return status;                                                                         \
    *reinterpret_cast<cudaGraph_t*>(b) = nullptr; /* a failed capture ends, too */                      \
    return status_if_failed;                                                                            \
  }
#include "tests/unit/common/cuda_calls.inc"
#undef CUDA_CALL

extern "C" cudaError_t __real_cudaPeekAtLastError();
extern "C" cudaError_t __wrap_cudaPeekAtLastError() {
  return t_last != cudaSuccess ? t_last : __real_cudaPeekAtLastError();
}

extern "C" cudaError_t __real_cudaGetLastError();
extern "C" cudaError_t __wrap_cudaGetLastError() {
  const cudaError_t last = std::exchange(t_last, cudaSuccess), real = __real_cudaGetLastError();
  return last != cudaSuccess ? last : real;
}
// NOLINTEND(bugprone-reserved-identifier)

namespace lensd {

void fail_cuda_call(std::size_t index, int64_t number, bool memory) {
  g_number = 0, g_memory = memory;
  for (auto& count : g_counts) count = 0;
  g_failed = false, g_function = index, g_number = number;
}

std::vector<CudaCall> cuda_calls() {
  std::vector<CudaCall> calls;
  for (size_t i = 0; i < kFunctions; ++i)
    calls.push_back({kNames[i], g_counts[i], kErrors[i] == cudaErrorMemoryAllocation});
  return calls;
}

bool cuda_call_failed() {
  return g_failed;
}

}  // namespace lensd
