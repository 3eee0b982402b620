// Owners of memory blocks: aligned host, pinned host or device memory. Move-only.
//
// A block has one owner, which defines the threads that may access its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/device/memory_kind.hpp"

namespace lensd {

/// Alignment in bytes of blocks and of rows in pooled host images: a cache line, enough for any SIMD vector.
inline constexpr size_t kHostAlignment = 64;
/// Alignment in bytes of all buffers in a plan's memory, and of rows in images that the GPU accesses.
inline constexpr size_t kDeviceAlignment = 256;

constexpr size_t align_up(size_t value, size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

class MemoryBlock {
 public:
  MemoryBlock() = default;
  /// Throws DeviceMemoryError for device memory, or Error(runtime_failure), if the memory cannot be
  /// allocated. A `pinned` block is ordinary host memory before use_pinned_memory(), in builds without CUDA,
  /// or if the driver refuses. The first refusal is logged.
  MemoryBlock(MemoryKind kind, size_t bytes);
  ~MemoryBlock() { reset(); }
  MemoryBlock(MemoryBlock&& other) noexcept { swap(other); }
  MemoryBlock& operator=(MemoryBlock&& other) noexcept {
    MemoryBlock moved(std::move(other));
    swap(moved);
    return *this;
  }

  uint8_t* data() const noexcept { return data_; }
  size_t size() const noexcept { return bytes_; }
  MemoryKind kind() const noexcept { return kind_; }
  explicit operator bool() const noexcept { return data_ != nullptr; }

 private:
  void reset() noexcept;
  void swap(MemoryBlock& other) noexcept {
    std::swap(data_, other.data_), std::swap(bytes_, other.bytes_), std::swap(kind_, other.kind_);
  }

  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
  MemoryKind kind_ = MemoryKind::host;
};

/// Returns true after use_pinned_memory(): new `pinned` blocks are then page-locked. Thread-safe.
bool pinned_memory_in_use() noexcept;
/// Makes new `pinned` blocks page-locked. `device`, a CUDA device, becomes the current one of each thread
/// that allocates a `pinned` block or frees a `pinned` or `device` block. Call before allocating such blocks.
/// Thread-safe.
void use_pinned_memory(int device) noexcept;

}  // namespace lensd
