// Sums over the lanes of a warp, for klt.
#pragma once

#include <cstdint>

#include "kernels/common/warp.cuh"

namespace lensd {

/// Returns the 64-bit sum of a warp's 32-bit values, in every lane.
__device__ inline int64_t klt_warp_sum(int v) {
#if __CUDA_ARCH__ >= 800
  const int high = __reduce_add_sync(~0u, v >> 16);
  const unsigned low = __reduce_add_sync(~0u, static_cast<unsigned>(v) & 0xffffu);
  return (static_cast<int64_t>(high) << 16) + low;
#else
  return warp_sum<int64_t>(v);
#endif
}

/// The `Lanes` of klt_affine.hpp for a lane of a warp.
struct KltWarpLanes {
  int first, stride = 32;
  __device__ KltWarpLanes() : first(static_cast<int>(threadIdx.x & 31)) {}
  __device__ int64_t sum(int64_t v) const { return warp_sum(v); }
};

}  // namespace lensd
