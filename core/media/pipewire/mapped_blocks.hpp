// Maps the memory of a PipeWire buffer's blocks.
#pragma once

#include <linux/dma-buf.h>
#include <spa/buffer/buffer.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace lensd {

inline constexpr size_t kMaxBlocks = 4;
using BlockMemory = std::array<const uint8_t*, kMaxBlocks>;

/// Maps DMA buffers, which PipeWire does not map, for the lifetime of the object.
class MappedBlocks {
 public:
  explicit MappedBlocks(const spa_buffer& buffer) : buffer_(buffer) {
    for (size_t i = 0; i < std::min<size_t>(buffer.n_datas, kMaxBlocks); ++i) {
      const spa_data& data = buffer.datas[i];
      memory_[i] = static_cast<const uint8_t*>(data.data);
      if (memory_[i] || data.type != SPA_DATA_DmaBuf) continue;
      const size_t bytes = size_t{data.maxsize} + data.mapoffset;
      void* const begin = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, static_cast<int>(data.fd), 0);
      if (begin == MAP_FAILED) continue;
      mapped_[i] = {begin, bytes};
      memory_[i] = static_cast<const uint8_t*>(begin) + data.mapoffset;
    }
  }
  ~MappedBlocks() {
    for (const auto& [begin, bytes] : mapped_)
      if (begin) munmap(begin, bytes);
  }
  MappedBlocks(const MappedBlocks&) = delete;
  MappedBlocks& operator=(const MappedBlocks&) = delete;

  /// Returns the beginning of each block; null if it cannot be read.
  const BlockMemory& memory() const { return memory_; }

  // Call before and after reading: they make a device's writes to DMA buffers visible to the CPU.
  void begin_reading() const { sync(DMA_BUF_SYNC_START); }
  void end_reading() const { sync(DMA_BUF_SYNC_END); }

 private:
  void sync(uint64_t flag) const {
    for (uint32_t i = 0; i < buffer_.n_datas; ++i) {
      if (buffer_.datas[i].type != SPA_DATA_DmaBuf) continue;
      dma_buf_sync request = {};
      request.flags = DMA_BUF_SYNC_READ | flag;
      ioctl(static_cast<int>(buffer_.datas[i].fd), DMA_BUF_IOCTL_SYNC, &request);
    }
  }

  const spa_buffer& buffer_;
  BlockMemory memory_ = {};
  std::array<std::pair<void*, size_t>, kMaxBlocks> mapped_ = {};
};

}  // namespace lensd
