// Picture buffers of decoders and encoders: pooled blocks of pinned or ordinary host memory.
//
//   decoder ── get_buffer2 ──▶ PictureAllocator ──▶ AVBufferPool of MemoryBlocks ──▶ Picture ──▶ pool
//
// After warm-up every picture reuses a block. FFmpeg's pool counts references: blocks may outlive the
// allocator and be released on any thread. Decoder threads call get_buffer2.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "core/device/memory.hpp"
#include "core/image/view.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

class PictureAllocator {
 public:
  explicit PictureAllocator(MemoryKind kind) : kind_(kind), blocks_(std::make_shared<std::atomic<int>>(0)) {}

  /// Sets `context.get_buffer2` and `context.opaque`, so that the decoder writes into this allocator's
  /// buffers. The allocator must outlive the context.
  void attach(AVCodecContext& context);

  /// Sets the planes of `frame` to a block of the pool for `padded_width` × `padded_height` pixels. The
  /// frame's format must be set. Rows are aligned to 64 bytes and to `alignment` (bytes for each of 4
  /// planes, may be null); planes have the padding that decoders and swscale need. Returns 0 or an AVERROR.
  int fill(AVFrame& frame, int padded_width, int padded_height, const int* alignment = nullptr) noexcept;

  /// Sets the object that the context's other callbacks use; they get it from user().
  void set_user(void* user) noexcept { user_ = user; }
  void* user() const noexcept { return user_; }

  /// Returns the kind of memory of the frame's planes; `host` for frames of other allocators.
  MemoryKind memory_of(const AVFrame& frame) const noexcept;

  /// Returns the number of error messages that attached decoders logged. Many decode errors are only logged.
  int logged_errors() const noexcept { return logged_errors_.load(std::memory_order_relaxed); }
  void count_logged_error() noexcept { logged_errors_.fetch_add(1, std::memory_order_relaxed); }

  /// Returns the size of the last picture that exceeded kMaxSide since the last call; empty if there was
  /// none. FFmpeg's HEVC decoder reports such a picture as a lack of memory.
  Extent take_too_large() noexcept { return too_large_.exchange(Extent{}, std::memory_order_relaxed); }

  /// Returns the number of blocks allocated so far, for tests.
  int blocks() const noexcept { return blocks_->load(std::memory_order_relaxed); }

 private:
  static int get_buffer(AVCodecContext* context, AVFrame* frame, int flags) noexcept;
  AVBufferRef* take(size_t bytes) noexcept;

  const MemoryKind kind_;
  void* user_ = nullptr;
  std::shared_ptr<std::atomic<int>> blocks_;
  std::atomic<int> real_kind_{-1};  ///< MemoryKind of the blocks; -1: none yet
  std::atomic<int> logged_errors_{0};
  std::atomic<Extent> too_large_{Extent{}};
  std::mutex mutex_;  ///< guards the pool's replacement when the size changes
  ff::BufferPoolPtr pool_;
  size_t pool_bytes_ = 0;
};

}  // namespace lensd
