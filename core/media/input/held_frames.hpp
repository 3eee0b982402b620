// Decoded frames that somebody holds: the owners behind Picture handles, recycled without allocation.
#pragma once

#include <memory>

#include "core/base/bounded_queue.hpp"
#include "core/image/picture_handle.hpp"
#include "core/media/ffmpeg/ffmpeg_check.hpp"

namespace lensd {

/// Lives as long as its source or the last picture out of it. take() is for the decode thread, owners come
/// back on any thread.
class HeldFrames : public std::enable_shared_from_this<HeldFrames> {
 public:
  static std::shared_ptr<HeldFrames> make() { return std::shared_ptr<HeldFrames>(new HeldFrames); }
  ~HeldFrames();

  /// An owner that has taken over the references of `frame`, which is left empty.
  PictureOwner* take(AVFrame& frame);

 private:
  class Held;
  HeldFrames() : free_(64) {}
  BoundedQueue<Held*> free_;
};

}  // namespace lensd
