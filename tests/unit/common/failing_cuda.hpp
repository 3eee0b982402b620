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

/// Makes one later call of function `index` of cuda_calls() fail: the one with this number, counted from 1 on
/// all threads. 0: none fails. `memory`: with cudaErrorMemoryAllocation, whatever its error is in
/// cuda_calls.inc.
void fail_cuda_call(std::size_t index, int64_t number, bool memory = false);
/// Returns the functions and how often they were called.
std::vector<CudaCall> cuda_calls();
/// Returns true if the call chosen with fail_cuda_call() was made.
bool cuda_call_failed();

}  // namespace lensd
