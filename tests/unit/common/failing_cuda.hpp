// Makes single calls of the CUDA runtime fail (cuda_calls.inc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lensd {

struct CudaCall {
  const char* name;
  int64_t count;  ///< calls since fail_cuda_call()
  bool memory;    ///< it fails with cudaErrorMemoryAllocation
};

/// Makes call `number` of function `index` of cuda_calls() fail. Calls are counted from 1 after this call, on
/// all threads. `number` 0: no call fails. `memory`: the call fails with cudaErrorMemoryAllocation instead of
/// its error in cuda_calls.inc.
void fail_cuda_call(std::size_t index, int64_t number, bool memory = false);
/// Returns the functions and how often they were called.
std::vector<CudaCall> cuda_calls();
/// Returns true if the call chosen with fail_cuda_call() was made.
bool cuda_call_failed();

}  // namespace lensd
