// Sums over the lanes of a warp, for klt.
#pragma once

#include <cstdint>

namespace lensd {

/// Returns the 64-bit sum of a warp's 32-bit values, in every lane.
__device__ inline int64_t klt_warp_sum(int v) {
#if __CUDA_ARCH__ >= 800
  const int high = __reduce_add_sync(~0u, v >> 16);
  const unsigned low = __reduce_add_sync(~0u, static_cast<unsigned>(v) & 0xffffu);
  return (static_cast<int64_t>(high) << 16) + low;
#else
  int64_t sum = v;
  for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(~0u, sum, i);
  return sum;
#endif
}

__device__ inline int64_t klt_warp_sum64(int64_t v) {
  for (int i = 16; i > 0; i /= 2) v += __shfl_xor_sync(~0u, v, i);
  return v;
}

/// `Lanes` of klt_affine.hpp for a warp.
struct KltWarpLanes {
  int first, stride = 32;
  __device__ KltWarpLanes() : first(static_cast<int>(threadIdx.x & 31)) {}
  __device__ int64_t sum(int64_t v) const { return klt_warp_sum64(v); }
};

}  // namespace lensd
