#include "core/media/input/held_frames.hpp"

namespace lensd {

class HeldFrames::Held : public PictureOwner {
 public:
  void hold(AVFrame& frame, std::shared_ptr<HeldFrames> home) {
    av_frame_move_ref(frame_.get(), &frame);
    home_ = std::move(home);
  }

  void recycle() noexcept override {
    av_frame_unref(frame_.get());
    const std::shared_ptr<HeldFrames> home = std::move(home_);
    Held* self = this;
    if (!home->free_.try_push(self)) delete this;
  }

 private:
  ff::FramePtr frame_ = ff::make_frame();
  std::shared_ptr<HeldFrames> home_;  ///< only while held: a free owner must not keep its list alive
};

HeldFrames::~HeldFrames() {
  while (auto held = free_.try_pop()) delete *held;
}

PictureOwner* HeldFrames::take(AVFrame& frame) {
  auto free = free_.try_pop();
  Held* held = free ? *free : new Held;
  held->hold(frame, shared_from_this());
  return held;
}

}  // namespace lensd
