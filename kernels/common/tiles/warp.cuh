// Reductions over the 32 lanes of a warp: one instruction on sm_80 and newer, shuffles on older devices. Call
// with all lanes.
#pragma once

namespace lensd {

template <class Op>
__device__ unsigned warp_shuffle_reduce(unsigned value, Op op) {
  for (int lane = 16; lane > 0; lane /= 2) value = op(value, __shfl_xor_sync(~0u, value, lane));
  return value;
}

/// Returns the sum modulo 2³² in every lane.
__device__ inline unsigned warp_sum(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0u, value);
#else
  return warp_shuffle_reduce(value, [](unsigned a, unsigned b) { return a + b; });
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

}  // namespace lensd
