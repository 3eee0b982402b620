// Buffers that decoders write into: pooled blocks of pinned (or ordinary) host memory.
//
//   decoder ── get_buffer2 ──▶ PictureAllocator ──▶ AVBufferPool of MemoryBlocks ──▶ Picture ──▶ back to the
//   pool
//
// After warm-up every picture reuses a block. FFmpeg's pool counts references, so that blocks outlive the
// allocator while pictures are still held, on whichever thread. get_buffer2 is called from decoder threads.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "core/device/memory.hpp"
#include "core/media/ffmpeg/ffmpeg_check.hpp"

namespace lensd {

class PictureAllocator {
 public:
  explicit PictureAllocator(MemoryKind kind) : kind_(kind), blocks_(std::make_shared<std::atomic<int>>(0)) {}

  /// Makes `context` decode into this allocator's buffers. It must outlive the context.
  void attach(AVCodecContext& context);

  /// Gives `frame` (format, width and height set) planes from the pool: rows aligned to 64 bytes and to
  /// `alignment`, with the over-read padding that decoders and swscale want. Returns 0 or an AVERROR.
  int fill(AVFrame& frame, int padded_width, int padded_height, const int* alignment = nullptr) noexcept;

  /// The context's opaque pointer is taken by the allocator; its other callbacks find their owner here.
  void set_user(void* user) noexcept { user_ = user; }
  void* user() const noexcept { return user_; }

  /// Where the frame's planes are; frames from elsewhere are ordinary host memory.
  MemoryKind memory_of(const AVFrame& frame) const noexcept;

  /// Error messages that the attached decoders have logged: many errors show nowhere else.
  int complaints() const noexcept { return complaints_.load(std::memory_order_relaxed); }
  void complain() noexcept { complaints_.fetch_add(1, std::memory_order_relaxed); }

  /// Blocks made so far, for tests: it stops growing after warm-up.
  int blocks() const noexcept { return blocks_->load(std::memory_order_relaxed); }

 private:
  static int get_buffer(AVCodecContext* context, AVFrame* frame, int flags) noexcept;
  AVBufferRef* take(size_t bytes) noexcept;

  const MemoryKind kind_;
  void* user_ = nullptr;
  std::shared_ptr<std::atomic<int>> blocks_;
  std::atomic<int> real_kind_{-1};  ///< MemoryKind of the blocks, once one was made
  std::atomic<int> complaints_{0};
  std::mutex mutex_;  ///< guards the pool's replacement when the size changes
  ff::BufferPoolPtr pool_;
  size_t pool_bytes_ = 0;
};

}  // namespace lensd
