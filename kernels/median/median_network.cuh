// The networks of median_network-inl.hpp on CUDA: two samples per register, in its 16-bit halves. sm_90 has
// packed minima and maxima for 16-bit halves (VIMNMX.U16x2), but not for bytes.
#pragma once

#include "kernels/median/merge_network.hpp"

namespace lensd {
namespace {

__device__ uint32_t net_min(uint32_t a, uint32_t b) {
  return __vminu2(a, b);
}
__device__ uint32_t net_max(uint32_t a, uint32_t b) {
  return __vmaxu2(a, b);
}
#define LENSD_NET __device__ __forceinline__
#include "kernels/median/median_network-inl.hpp"
#undef LENSD_NET

}  // namespace
}  // namespace lensd
