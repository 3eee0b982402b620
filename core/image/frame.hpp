// Frames: processed images in pooled memory, with timestamps and side data.
//
//   FramePool (fixed capacity) ── acquire ──▶ Frame ── moved or shared between threads ──▶ destructor of the
//                                                                          last handle: the slot is free
//
// A Frame is a move-only handle for one thread at a time; share() returns another handle. Read the pixels of
// a host frame after ready(). Read the pixels of a device frame on a stream after
// DeviceFrameSync::wait_ready(). Acquiring, sharing and releasing are thread-safe and lock-free, except that
// acquire() waits for a free frame.
//
// Image 0 of a frame is the graph's output. Further images are the outputs of viewed nodes
// (FramePool::Spec::views). Side data of the passes (tracks, statistics) is always in host memory.
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

/// The field order of an upright frame, as marked in the stream. `progressive`: also frames without a mark.
enum class FieldOrder : uint8_t { progressive, top_first, bottom_first };
/// Returns a text such as "interlaced, top field first"; empty for progressive frames.
constexpr const char* name(FieldOrder fields) {
  constexpr const char* kNames[] = {"", "interlaced, top field first", "interlaced, bottom field first"};
  return kNames[static_cast<int>(fields)];
}

/// Properties of a frame other than its pixels. Times are in nanoseconds.
struct FrameInfo {
  int64_t index = 0;             ///< index of the frame in the source, from 0
  int64_t pts_ns = 0;            ///< presentation time since the source's start
  int64_t duration_ns = 0;       ///< duration of the frame; 0: unknown
  int64_t offset_ns = 0;         ///< pts_ns minus the frame's timestamp relative to the file's first picture;
                                 ///< changes where the timestamps of a file jump back
  int64_t capture_ns = 0;        ///< monotonic time of capture (cameras), else of delivery by the decoder
  int64_t stamp_ns = INT64_MIN;  ///< timestamp in the stream; INT64_MIN: it has none
  uint32_t connection = 0;       ///< number of the live connection, for its audio (LiveAudio); 0: none
  int64_t due_ns = 0;        ///< monotonic time at which the sound of a live picture is heard; 0: no sound
  int64_t taken_ns = 0;      ///< monotonic time when the process thread dequeued the picture
  int64_t processed_ns = 0;  ///< monotonic time when the graph had run (CPU) or was queued (CUDA)
  int64_t published_ns = 0;  ///< monotonic time just before the frame is passed to the display, after the
                             ///< wait until it is due; 0: not timed, for example while paused
  uint32_t serial = 0;       ///< changes at discontinuities: at a seek; in live sources at a new connection,
                             ///< the first placeholder and the first picture after placeholders
  ColourTags tags;           ///< colours of the frame's images; set by the pipeline
  bool index_estimated = false;  ///< the index is an estimate, after a seek in a file whose rate varies
  bool key = false;
  FieldOrder fields = FieldOrder::progressive;
  bool placeholder = false;  ///< shown because a live source had no picture; not recorded
};

/// A named value that a filter computes per frame. Available after the frame is finished.
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
  /// Returns another handle to the same frame.
  Frame share() const noexcept;
  /// Returns the pixels of the graph's output (0) or of another image. The pixels are in memory of kind
  /// memory() and valid while the handle exists.
  ImageRef image(int index = 0) const;
  int images() const noexcept;
  /// Returns the index of the image with the output of `node`; "" is the graph's output. Returns -1 if there
  /// is no such image.
  int find_image(std::string_view node) const noexcept;
  /// Returns the kind of memory that contains the pixels.
  MemoryKind memory() const;
  /// Returns the tracks of the output, or null if the graph has none. Valid after ready().
  const TrackTable* tracks() const noexcept;
  int slot() const noexcept { return slot_; }
  /// Returns the object that the executor attached to the pool (its events), for callers that know its type.
  void* attachment() const noexcept;

  /// Returns true if the pixels are written; always true for CPU frames. Does not block.
  bool ready() const noexcept;
  /// Blocks until ready(). Throws Error(runtime_failure) if the GPU fails first. Do not call on the process
  /// thread.
  void wait_ready() const;

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
  /// A viewed node and the index of its image in Spec::images.
  struct View {
    std::string node;
    int image = 0;
  };
  struct Spec {
    std::vector<ImageFormat> images;  ///< formats of a frame's images; [0] is the output
    MemoryKind kind = MemoryKind::host;
    int capacity = 4;                   ///< number of frames, 1 to 64
    size_t side_bytes = 0;              ///< size of each frame's side data
    std::ptrdiff_t tracks_offset = -1;  ///< byte offset of the TrackTable in the side data; negative: none
    std::vector<View> views;
  };
  /// Allocates a pool. Throws Error(runtime_failure) if memory cannot be allocated.
  static std::shared_ptr<FramePool> make(Spec spec);
  static std::shared_ptr<FramePool> make(ImageFormat format, MemoryKind kind, int capacity) {
    return make(Spec{.images = {format}, .kind = kind, .capacity = capacity, .views = {}});
  }

  /// Returns a free frame, or an empty handle if there is none. Thread-safe. Does not block.
  Frame try_acquire();
  /// Blocks until a frame is free and returns it. Returns an empty handle if none is free after close().
  /// Thread-safe.
  Frame acquire();
  void close();

  const Spec& spec() const noexcept { return spec_; }
  int capacity() const noexcept { return static_cast<int>(slots_.size()); }
  ImageRef image(int slot, int index = 0) const {
    return slots_[static_cast<size_t>(slot)]->images[static_cast<size_t>(index)];
  }
  std::span<const ImageRef> images(int slot) const { return slots_[static_cast<size_t>(slot)]->images; }
  /// Returns the side data of a slot, in host memory; pinned unless the pool's kind is MemoryKind::host.
  uint8_t* side_data(int slot) const { return slots_[static_cast<size_t>(slot)]->side.data(); }

  /// Attaches an executor's object, which lives as long as the pool. Call once, before the first acquire.
  void attach(std::shared_ptr<void> attachment) { attachment_ = std::move(attachment); }
  void* attachment() const noexcept { return attachment_.get(); }

  /// Makes a slot's frame not ready. For executors.
  void set_pending(int slot) noexcept {
    slots_[static_cast<size_t>(slot)]->state.store(kPending, std::memory_order_relaxed);
  }
  /// Makes a slot's frame ready and wakes wait_ready(). For executors. Thread-safe.
  void set_ready(int slot) noexcept { finish(slot, kReady); }
  /// Makes wait_ready() throw, because the GPU will never write the pixels. For executors. Thread-safe.
  void set_failed(int slot) noexcept { finish(slot, kFailed); }

 private:
  friend class Frame;
  enum State : uint32_t { kPending, kReady, kFailed };
  struct Slot {
    std::vector<MemoryBlock> memory;
    std::vector<ImageRef> images;
    MemoryBlock side;
    std::atomic<uint32_t> state{kReady}, handles{0};
  };
  explicit FramePool(Spec spec);
  void release(int slot) noexcept;
  void finish(int slot, State state) noexcept;

  Spec spec_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::shared_ptr<void> attachment_;
  std::atomic<uint64_t> free_;
  std::atomic<uint32_t> released_{0};
  std::atomic<unsigned> next_{0};  ///< slot at which the search for a free slot starts
  std::atomic<bool> closed_{false};
};

}  // namespace lensd
