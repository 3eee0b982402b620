// Loads and stores of sixteen bytes at any address: one vector access where alignment allows, words or bytes
// elsewhere.
#pragma once

#include <cstdint>

namespace lensd {

/// Returns the 16 bytes at `p`; bytes outside [begin, end) are 0 and are not read.
__device__ inline uint4 load16(const uint8_t* p, const uint8_t* begin, const uint8_t* end) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(p);
  if ((address & 15) == 0 && p >= begin && p + 16 <= end) return *reinterpret_cast<const uint4*>(p);
  const unsigned shift = static_cast<unsigned>(address & 3) * 8;
  const uint8_t* aligned = p - (address & 3);
  if (aligned >= begin && aligned + 20 <= end) {
    const uint32_t* w = reinterpret_cast<const uint32_t*>(aligned);
    const uint32_t w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], w4 = w[4];
    return {__funnelshift_r(w0, w1, shift), __funnelshift_r(w1, w2, shift), __funnelshift_r(w2, w3, shift),
            __funnelshift_r(w3, w4, shift)};
  }
  uint32_t words[4] = {};
#pragma unroll
  for (int i = 0; i < 16; ++i)
    if (p + i >= begin && p + i < end) words[i / 4] |= static_cast<uint32_t>(p[i]) << (i % 4 * 8);
  return {words[0], words[1], words[2], words[3]};
}

/// Stores the first `n` bytes of `v` at `p`.
__device__ inline void store16(uint8_t* p, uint4 v, int n) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(p);
  if (n >= 16 && (address & 15) == 0) {
    *reinterpret_cast<uint4*>(p) = v;
    return;
  }
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
  if (n >= 16 && (address & 3) == 0) {
#pragma unroll
    for (int i = 0; i < 4; ++i) reinterpret_cast<uint32_t*>(p)[i] = words[i];
    return;
  }
#pragma unroll
  for (int i = 0; i < 16; ++i)
    if (i < n) p[i] = static_cast<uint8_t>(words[i / 4] >> (i % 4 * 8));
}

}  // namespace lensd
