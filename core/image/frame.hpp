// Frames: working images in pooled memory, with what is known about them.
//
//   FramePool (fixed capacity) ── acquire ──▶ Frame ── moved or shared between threads ──▶ the last handle is
//                                                                          destroyed: the slot is free
//
// A Frame is a move-only handle; one thread at a time holds it, share() makes another one. What it refers to
// may be read once ready() is true (host frames) or by work ordered behind the executor's ready event (device
// frames). Acquiring, sharing and releasing are lock-free and may happen on different threads.
//
// A frame has the graph's output as its image 0, and further images where other nodes' pictures were asked
// for (FramePool::Spec::views); and the bytes of side data that the passes left, which are always in host
// memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/device/memory.hpp"
#include "core/image/picture.hpp"
#include "core/image/tracks.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// What is known about a frame besides its pixels. Times in nanoseconds.
struct FrameInfo {
  int64_t index = 0;         ///< counts the source's frames from 0
  int64_t pts_ns = 0;        ///< presentation time from the source's start
  int64_t duration_ns = 0;   ///< 0: not known
  int64_t capture_ns = 0;    ///< monotonic time when the decoder delivered it
  int64_t taken_ns = 0;      ///< monotonic time when the process thread took it from the queue
  int64_t processed_ns = 0;  ///< monotonic time when the graph had been run (CPU) or queued (CUDA)
  int64_t published_ns = 0;  ///< monotonic time when it was handed to the display, having waited for its
                             ///< time; 0: its way is not timed, as when paused
  uint32_t serial = 0;       ///< counts seeks and source changes; older serials are stale
  bool key = false;
  bool placeholder = false;  ///< made by a live source that has no picture; not for recordings
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
  /// Another handle on the same frame.
  Frame share() const noexcept;
  /// The pixels of the graph's output (0) or of another image; memory() says where. Valid while the handle
  /// lives.
  ImageRef image(int index = 0) const;
  int images() const noexcept;
  /// The image that shows what `node` gives ("" and the output's id: 0); -1 when it was not asked for.
  int find_image(std::string_view node) const noexcept;
  MemoryKind memory() const;
  /// The tracks that reached the output, null when the graph gives none. Valid once ready().
  const TrackTable* tracks() const noexcept;
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
  /// A name under which an image of the frames is found.
  struct View {
    std::string node;
    int image = 0;
  };
  struct Spec {
    std::vector<ImageFormat> images;  ///< [0] is the output
    MemoryKind kind = MemoryKind::host;
    int capacity = 4;                   ///< frames, at most 64
    size_t side_bytes = 0;              ///< side data of each frame
    std::ptrdiff_t tracks_offset = -1;  ///< of the TrackTable in it; negative: there is none
    std::vector<View> views;
  };
  /// Throws Error when memory is not to be had.
  static std::shared_ptr<FramePool> make(Spec spec);
  static std::shared_ptr<FramePool> make(ImageFormat format, MemoryKind kind, int capacity) {
    return make(Spec{.images = {format}, .kind = kind, .capacity = capacity, .views = {}});
  }

  /// A free frame, or an empty handle.
  Frame try_acquire();
  /// Waits for a free frame; empty once close() was called.
  Frame acquire();
  void close();

  const Spec& spec() const noexcept { return spec_; }
  int capacity() const noexcept { return static_cast<int>(slots_.size()); }
  ImageRef image(int slot, int index = 0) const {
    return slots_[static_cast<size_t>(slot)]->images[static_cast<size_t>(index)];
  }
  std::span<const ImageRef> images(int slot) const { return slots_[static_cast<size_t>(slot)]->images; }
  /// Side data of a slot: host memory, pinned where the frames are on the GPU or copied from there.
  uint8_t* side_data(int slot) const { return slots_[static_cast<size_t>(slot)]->side.data(); }

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
    std::vector<MemoryBlock> memory;
    std::vector<ImageRef> images;
    MemoryBlock side;
    std::atomic<uint32_t> ready{1}, handles{0};
  };
  explicit FramePool(Spec spec);
  void release(int slot) noexcept;

  Spec spec_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::shared_ptr<void> attachment_;
  std::atomic<uint64_t> free_;
  std::atomic<uint32_t> released_{0};
  std::atomic<unsigned> next_{0};  ///< where the search for a free slot begins
  std::atomic<bool> closed_{false};
};

}  // namespace lensd
