// Passes the output of a running pipeline to the run's virtual camera; see VirtualCamera.
#pragma once

#include <memory>

#include "app/pipeline/queue_sink.hpp"
#include "core/media/source.hpp"
#include "core/media/virtual_camera.hpp"

namespace lensd {

/// Capacity of the queue of a virtual camera's sink. It is small, because the sink only copies, and because
/// the frame pool reserves a frame for each entry, even while the camera is off.
inline constexpr int kCameraFrames = 2;

class VirtualCameraSink final : public QueueSink {
 public:
  VirtualCameraSink(std::shared_ptr<VirtualCamera> camera, const SourceInfo& source);
  ~VirtualCameraSink() override { finish(); }

  /// Ignores the frame while the camera is off. Drops the oldest queued frame if the camera is too slow.
  void take(const Frame& frame, const Picture&, const PixelAspects& aspects) override {
    if (!camera_->on()) return;
    served_ = camera_->starts();
    push({.frame = frame.share(), .info = frame.info, .aspect = aspects.output});
  }
  bool wants_current_frame() const noexcept override { return camera_->on() && served_ != camera_->starts(); }
  bool wants_reruns() const noexcept override { return camera_->on(); }
  SinkStatus status() const override;
  std::vector<Notice> take_notices() override;

 private:
  void handle(Job& job) override;
  void complete() override {}

  const std::shared_ptr<VirtualCamera> camera_;
  uint64_t served_ = 0;  ///< VirtualCamera::starts() of the camera that the last frame was for
};

}  // namespace lensd
