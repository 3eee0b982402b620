// Owning blocks of memory: aligned host, pinned host, device. Move-only; freed by the destructor.
//
// A block belongs to one owner; its bytes may be touched by several threads under the rules of that owner.
// Without CUDA (not built in, or no device) a pinned block is an aligned host block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/device/memory_kind.hpp"

namespace lensd {

/// Alignment of every block, and of rows in pooled images: a cache line and any SIMD vector.
inline constexpr size_t kHostAlignment = 64;
/// Row alignment of images that the GPU touches.
inline constexpr size_t kDeviceAlignment = 256;

constexpr size_t align_up(size_t value, size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

class MemoryBlock {
 public:
  MemoryBlock() = default;
  /// Throws Error(runtime_failure) naming the kind and the size when memory is not to be had.
  /// A pinned block that the driver refuses becomes an ordinary host block, with one warning.
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

/// True once use_pinned_memory() was called: new `pinned` blocks are really page-locked.
bool pinned_memory_in_use() noexcept;
/// Called by the CUDA executor's set-up before any pinned block is made.
void use_pinned_memory() noexcept;

}  // namespace lensd
