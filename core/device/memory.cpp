#include "core/device/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/sanitizer.hpp"
#include "core/device/device_memory_error.hpp"

#if LENSD_CUDA
#include "core/device/cuda_check.hpp"
#endif

namespace lensd {
namespace {

std::atomic<int> g_device{-1};  ///< the device for pinned memory; negative before use_pinned_memory()

/// Host blocks of at least kMinMmapBytes bytes are allocated with mmap(). With malloc(), replaced plans
/// fragmented the heap: with a new graph every ten seconds at 640×480, memory grew from 72 to 86 MB within
/// two minutes. With mmap() it stays at 72 MB.
#if LENSD_ADDRESS_SANITIZER
constexpr size_t kMinMmapBytes = SIZE_MAX;  // never mmap(), whose memory AddressSanitizer does not check
#else
constexpr size_t kMinMmapBytes = 128 * 1024;
#endif

uint8_t* allocate_host(size_t bytes) noexcept {
  if (bytes < kMinMmapBytes) return static_cast<uint8_t*>(std::aligned_alloc(kHostAlignment, bytes));
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<uint8_t*>(p);
}

void free_host(uint8_t* data, size_t bytes) noexcept {
  bytes < kMinMmapBytes ? std::free(data) : static_cast<void>(munmap(data, bytes));
}

constexpr const char* kMemoryHint = "use a smaller picture or fewer nodes";

std::string no_memory(const char* kind, size_t bytes) {
  return fmt::format("cannot allocate {} bytes of {} memory", bytes, kind);
}

DeviceMemoryError no_device_memory(size_t bytes) {
  return DeviceMemoryError(no_memory("GPU", bytes), kMemoryHint);
}

#if LENSD_CUDA
/// Makes the device the current one of the calling thread. CUDA would otherwise create a context on device 0.
void use_device() noexcept {
  if (const int device = g_device.load(std::memory_order_relaxed); device >= 0) cudaSetDevice(device);
}
#endif

}  // namespace

bool pinned_memory_in_use() noexcept {
  return g_device.load(std::memory_order_relaxed) >= 0;
}
void use_pinned_memory(int device) noexcept {
  g_device.store(device, std::memory_order_relaxed);
}

MemoryBlock::MemoryBlock(MemoryKind kind, size_t bytes)
    : bytes_(align_up(bytes ? bytes : 1, kHostAlignment)), kind_(kind) {
#if LENSD_CUDA
  if (kind_ == MemoryKind::device) {
    void* p = nullptr;
    if (cudaMalloc(&p, bytes_) != cudaSuccess) {
      cudaGetLastError();
      throw no_device_memory(bytes_);
    }
    data_ = static_cast<uint8_t*>(p);
    return;
  }
  if (kind_ == MemoryKind::pinned && pinned_memory_in_use()) {
    use_device();
    void* p = nullptr;
    if (cudaHostAlloc(&p, bytes_, cudaHostAllocPortable) == cudaSuccess) {
      data_ = static_cast<uint8_t*>(p);
      return;
    }
    cudaGetLastError();
    static std::atomic<bool> warned{false};
    if (!warned.exchange(true)) log::warn("cannot allocate page-locked memory; uploads use ordinary memory");
  }
#else
  if (kind_ == MemoryKind::device) throw no_device_memory(bytes_);
#endif
  kind_ = MemoryKind::host;
  data_ = allocate_host(bytes_);
  if (!data_) throw MemoryError("memory", no_memory("host", bytes_), kMemoryHint);
}

void MemoryBlock::reset() noexcept {
  if (!data_) return;
#if LENSD_CUDA
  if (kind_ != MemoryKind::host) use_device();
  if (kind_ == MemoryKind::device)
    cudaFree(data_);
  else if (kind_ == MemoryKind::pinned)
    cudaFreeHost(data_);
  else
    free_host(data_, bytes_);
#else
  free_host(data_, bytes_);
#endif
  data_ = nullptr;
}

}  // namespace lensd
