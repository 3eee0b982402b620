// A connected FakeCamera with its controls.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/clock.hpp"
#include "core/media/camera/camera_controls.hpp"
#include "tests/unit/core/media/camera/fake_camera.hpp"

namespace lensd {

/// A connected camera and its shared controls.
struct CameraFixture {
  explicit CameraFixture(bool uvc, ControlValues given = {}, KeptControls kept = {})
      : uvc_like(uvc), shared(std::make_shared<SharedControls>(std::move(given), std::move(kept))) {
    replace_device();
    connect();
  }
  void connect(const CameraIdentity& identity = {"camera A"}) {
    controls.emplace(device, shared, identity, ModeControls({}, {}));
  }
  /// Restores the state of a camera that was just plugged in. Call connect() before the controls are used.
  void replace_device() {
    controls.reset();
    device.restart();
    if (uvc_like) device.behave_like_uvcvideo();
  }
  void service() { controls->service(now_ns()); }
  ParamValue value(const char* name) { return shared->current(false)->find(name)->value; }
  std::string notices() {
    std::string all;
    for (const Notice& notice : shared->take_notices()) all += notice.text + "\n";
    return all;
  }

  const bool uvc_like;
  FakeCamera device;
  std::shared_ptr<SharedControls> shared;
  std::optional<CameraControls> controls;
};

}  // namespace lensd
