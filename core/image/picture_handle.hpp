// A decoded picture with reference-counted memory. The process thread holds it until the next picture, the
// CUDA executor until the GPU has read it, and a recorder of the source until it is encoded.
//
//   Source ── Picture ──▶ queue ──▶ process thread ── share() ──▶ CUDA executor, recorder
//
// The count is atomic: shares may be released on any thread. Use one handle on one thread at a time.
#pragma once

#include <atomic>
#include <utility>

#include "core/image/frame.hpp"
#include "core/image/picture.hpp"

namespace lensd {

/// Owns a picture's memory. The thread that releases the last share calls recycle().
class PictureOwner {
 public:
  virtual ~PictureOwner() = default;
  virtual void recycle() noexcept = 0;

 private:
  friend class Picture;
  std::atomic<int> shares_{0};
};

class Picture {
 public:
  Picture() = default;
  Picture(PictureRef ref, FrameInfo frame_info, PictureOwner* owner) noexcept
      : planes(ref), info(frame_info), owner_(owner) {
    if (owner_) owner_->shares_.fetch_add(1, std::memory_order_relaxed);
  }
  ~Picture() { reset(); }
  Picture(Picture&& other) noexcept
      : planes(std::exchange(other.planes, {})),
        info(other.info),
        owner_(std::exchange(other.owner_, nullptr)) {}
  Picture& operator=(Picture&& other) noexcept {
    reset();
    planes = std::exchange(other.planes, {}), info = other.info,
    owner_ = std::exchange(other.owner_, nullptr);
    return *this;
  }

  /// Returns another handle to the same memory.
  Picture share() const noexcept { return Picture(planes, info, owner_); }
  explicit operator bool() const noexcept { return planes.planes[0] != nullptr; }
  void reset() noexcept {
    if (owner_ && owner_->shares_.fetch_sub(1, std::memory_order_acq_rel) == 1) owner_->recycle();
    owner_ = nullptr;
    planes = {};
  }

  PictureRef planes;
  FrameInfo info;

 private:
  PictureOwner* owner_ = nullptr;
};

}  // namespace lensd
