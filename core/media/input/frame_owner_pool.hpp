// Reusable owners of the frames behind Picture handles, so that delivering a picture does not allocate.
#pragma once

#include <memory>

#include "core/base/bounded_queue.hpp"
#include "core/image/picture_handle.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// The pool exists until its source and all pictures from it are destroyed. Pictures may be released on any
/// thread.
class FrameOwnerPool : public std::enable_shared_from_this<FrameOwnerPool> {
 public:
  static std::shared_ptr<FrameOwnerPool> make() {
    return std::shared_ptr<FrameOwnerPool>(new FrameOwnerPool);
  }
  ~FrameOwnerPool() {
    while (auto owner = free_.try_pop()) delete *owner;
  }

  /// Returns an owner that takes over the references of `frame`, which becomes empty. Call from the decode
  /// thread only.
  PictureOwner* take(AVFrame& frame) {
    auto free = free_.try_pop();
    FrameOwner* owner = free ? *free : new FrameOwner;
    av_frame_move_ref(owner->frame.get(), &frame);
    owner->pool = shared_from_this();
    return owner;
  }

 private:
  struct FrameOwner final : PictureOwner {
    void recycle() noexcept override {
      av_frame_unref(frame.get());
      const std::shared_ptr<FrameOwnerPool> home = std::move(pool);
      FrameOwner* self = this;
      if (!home->free_.try_push(self)) delete this;
    }
    ff::FramePtr frame = ff::make_frame();
    std::shared_ptr<FrameOwnerPool> pool;  ///< null while free: a free owner must not keep the pool alive
  };

  FrameOwnerPool() : free_(64) {}
  BoundedQueue<FrameOwner*> free_;
};

}  // namespace lensd
