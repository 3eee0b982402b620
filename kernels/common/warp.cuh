// Reductions and prefix sums over the lanes of a warp and the threads of a block. Call from all of them. On
// sm_80 and newer, a reduction of 32-bit values is one instruction.
#pragma once

#include <cstdint>

namespace lensd {

template <class Op>
__device__ unsigned warp_shuffle_reduce(unsigned value, Op op) {
  for (int lane = 16; lane > 0; lane /= 2) value = op(value, __shfl_xor_sync(~0u, value, lane));
  return value;
}

/// Returns the sum in every lane.
template <class T>
__device__ T warp_sum(T value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(~0u, value, lane);
  return value;
}

/// Returns the sum modulo 2³² in every lane.
__device__ inline unsigned warp_sum(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0u, value);
#else
  return warp_sum<unsigned>(value);
#endif
}

/// Returns the minimum in every lane.
__device__ inline unsigned warp_min(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(~0u, value);
#else
  return warp_shuffle_reduce(value, [](unsigned a, unsigned b) { return a < b ? a : b; });
#endif
}

/// Returns the maximum in every lane.
__device__ inline unsigned warp_max(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(~0u, value);
#else
  return warp_shuffle_reduce(value, [](unsigned a, unsigned b) { return a > b ? a : b; });
#endif
}

/// Returns the sum over this lane and all lower ones.
template <class T>
__device__ T warp_inclusive_sum(T value) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const T lower = __shfl_up_sync(~0u, value, static_cast<unsigned>(step));
    if (lane >= step) value += lower;
  }
  return value;
}

/// Returns the sum over this thread and all lower ones of the block. Two calls need a barrier between them.
template <int kThreads>
__device__ uint32_t block_inclusive_sum(uint32_t value) {
  static_assert(kThreads % 32 == 0);
  __shared__ uint32_t of_warp[kThreads / 32];
  const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, warp = thread / 32;
  uint32_t sum = warp_inclusive_sum(value);
  if (lane == 31) of_warp[warp] = sum;
  __syncthreads();
  for (int i = 0; i < warp; ++i) sum += of_warp[i];
  return sum;
}

}  // namespace lensd
