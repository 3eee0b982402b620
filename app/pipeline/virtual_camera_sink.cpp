#include "app/pipeline/virtual_camera_sink.hpp"

#include <exception>
#include <utility>

namespace lensd {

VirtualCameraSink::VirtualCameraSink(std::shared_ptr<VirtualCamera> camera, const SourceInfo& source)
    : QueueSink(source.fps, kCameraFrames), camera_(std::move(camera)) {
  run(true);
}

void VirtualCameraSink::handle(Job& job) {
  if (!job.frame) return;
  try {
    camera_->write(host_image(job.frame), job.aspect, fps());
  } catch (const std::exception& error) {
    failure_ = error.what();
    notice(true, "virtual camera stopped: " + failure_);
    camera_->stop();
  }
}

std::vector<Notice> VirtualCameraSink::take_notices() {
  std::vector<Notice> notices = QueueSink::take_notices();
  append(notices, camera_->take_notices());
  return notices;
}

SinkStatus VirtualCameraSink::status() const {
  const VirtualCamera::Status camera = camera_->status();
  SinkStatus s;
  s.kind = SinkKind::virtual_camera;
  s.active = camera.state == VirtualCamera::State::streaming;
  s.wanted = camera.state != VirtualCamera::State::off;
  s.state = name(camera.state), s.path = camera.name, s.problem = camera.reason;
  s.frames = camera.frames, s.dropped = camera.dropped + dropped();
  return s;
}

}  // namespace lensd
