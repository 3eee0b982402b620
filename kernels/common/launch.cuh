// Helpers for launches and memory access in .cu files.
#pragma once

#include <cuda_runtime.h>

#include "core/device/cuda_check.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Bytes of shared memory that a block can use on every architecture from Turing on: by default, and if
/// cudaFuncAttributeMaxDynamicSharedMemorySize is set.
constexpr size_t kPlainSharedBytes = 48 * 1024, kMaxSharedBytes = 64 * 1024;

/// Returns the number of blocks of `size` that cover `items`.
constexpr unsigned blocks_for(int items, int size) {
  return static_cast<unsigned>((items + size - 1) / size);
}

/// Returns an attribute of the current device.
inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  LENSD_CUDA_CHECK(cudaGetDevice(&device));
  LENSD_CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

/// Returns true if every row starts at a multiple of `bytes`, a power of two.
template <class T>
bool rows_aligned(const BasicImageRef<T>& image, unsigned bytes) {
  return ((reinterpret_cast<uintptr_t>(image.data) | static_cast<uintptr_t>(image.pitch_bytes)) &
          (bytes - 1)) == 0;
}

/// Lets a kernel use `bytes` of dynamic shared memory, and prefers shared memory to the L1 cache. Call before
/// the first launch on a device.
template <class... Args>
void prefer_shared_memory(void (*kernel)(Args...), size_t bytes = 0) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  if (bytes > 0)
    LENSD_CUDA_CHECK(
        cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  LENSD_CUDA_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared));
}

/// Returns the four bytes at `p` as a little-endian word. If `aligned` is set, `p` must be aligned to 4
/// bytes; then one load is enough.
__device__ inline uint32_t load_word(const uint8_t* p, bool aligned) {
  if (aligned) return *reinterpret_cast<const uint32_t*>(p);
  return p[0] | static_cast<uint32_t>(p[1]) << 8 | static_cast<uint32_t>(p[2]) << 16 |
         static_cast<uint32_t>(p[3]) << 24;
}

__device__ inline void store_word(uint8_t* p, uint32_t word, bool aligned) {
  if (aligned) {
    *reinterpret_cast<uint32_t*>(p) = word;
    return;
  }
  for (int i = 0; i < 4; ++i) p[i] = static_cast<uint8_t>(word >> (8 * i));
}

/// Stores the first min(count, 4) bytes of `word` at `p`. `aligned` as in load_word().
__device__ inline void store_bytes(uint8_t* p, uint32_t word, int count, bool aligned) {
  if (count >= 4) return store_word(p, word, aligned);
  for (int i = 0; i < count; ++i) p[i] = static_cast<uint8_t>(word >> (8 * i));
}

}  // namespace lensd

/// Use after a kernel launch: throws with file and line if the launch failed. Does not synchronise.
#define LENSD_LAUNCHED() LENSD_CUDA_CHECK(cudaPeekAtLastError())
