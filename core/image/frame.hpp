// Frames: working images in pooled memory, with what is known about them.
//
//   FramePool (fixed capacity) ── acquire ──▶ Frame ── moved from thread to thread ──▶ destroyed: slot is
//   free
//
// A Frame is a move-only handle: one thread at a time holds it, its image may be read by that thread once
// ready() is true (host frames) or by work ordered behind the executor's ready event (device frames).
// Acquiring and releasing are lock-free and may happen on different threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/device/memory.hpp"
#include "core/image/picture.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// What is known about a frame besides its pixels. Times in nanoseconds.
struct FrameInfo {
  int64_t index = 0;         ///< counts the source's frames from 0
  int64_t pts_ns = 0;        ///< presentation time from the source's start
  int64_t duration_ns = 0;   ///< 0: not known
  int64_t capture_ns = 0;    ///< monotonic time when the decoder delivered it
  int64_t processed_ns = 0;  ///< monotonic time when the graph had been run (CPU) or queued (CUDA)
  uint32_t serial = 0;       ///< counts seeks and source changes; older serials are stale
  bool key = false;
};

/// Small integers and reals that a filter computed about a frame, read late.
struct Statistic {
  std::string name;
  double value = 0;
};

class FramePool;

class Frame {
 public:
  Frame() = default;
  ~Frame() { reset(); }
  Frame(Frame&& other) noexcept
      : pool_(std::move(other.pool_)), slot_(std::exchange(other.slot_, -1)), info(other.info) {}
  Frame& operator=(Frame&& other) noexcept {
    reset();
    pool_ = std::move(other.pool_), slot_ = std::exchange(other.slot_, -1), info = other.info;
    return *this;
  }

  explicit operator bool() const noexcept { return slot_ >= 0; }
  /// The pixels; memory() says where. Valid while the handle lives.
  ImageRef image() const;
  MemoryKind memory() const;
  int slot() const noexcept { return slot_; }
  /// What the executor hung on the pool (its events), for whoever knows the type.
  void* attachment() const noexcept;

  /// True once the pixels are written (always, for CPU frames).
  bool ready() const noexcept;
  /// Waits until ready(); used by writers of files, never by the process thread.
  void wait_ready() const noexcept;

  void reset() noexcept;

 private:
  friend class FramePool;
  std::shared_ptr<FramePool> pool_;
  int slot_ = -1;

 public:
  FrameInfo info;
};

class FramePool : public std::enable_shared_from_this<FramePool> {
 public:
  /// `capacity` frames of `format`, at most 64. Throws Error when memory is not to be had.
  static std::shared_ptr<FramePool> make(ImageFormat format, MemoryKind kind, int capacity);

  /// A free frame, or an empty handle.
  Frame try_acquire();
  /// Waits for a free frame; empty once close() was called.
  Frame acquire();
  void close();

  const ImageFormat& format() const noexcept { return format_; }
  int capacity() const noexcept { return static_cast<int>(slots_.size()); }
  ImageRef image(int slot) const { return slots_[static_cast<size_t>(slot)]->image; }

  /// For executors: something that lives as long as the pool's frames. Set once, before the first acquire.
  void attach(std::shared_ptr<void> attachment) { attachment_ = std::move(attachment); }
  void* attachment() const noexcept { return attachment_.get(); }

  /// For executors: a slot's ready flag. set_ready may be called from any thread.
  void set_pending(int slot) noexcept {
    slots_[static_cast<size_t>(slot)]->ready.store(0, std::memory_order_relaxed);
  }
  void set_ready(int slot) noexcept;

 private:
  friend class Frame;
  struct Slot {
    MemoryBlock memory;
    ImageRef image;
    std::atomic<uint32_t> ready{1};
  };
  FramePool(ImageFormat format, MemoryKind kind, int capacity);
  void release(int slot) noexcept;

  ImageFormat format_;
  MemoryKind kind_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::shared_ptr<void> attachment_;
  std::atomic<uint64_t> free_;
  std::atomic<uint32_t> released_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace lensd
