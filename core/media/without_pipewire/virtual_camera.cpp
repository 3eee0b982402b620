// Replaces core/media/pipewire in builds without PipeWire's headers.
#include "core/media/virtual_camera.hpp"
#include "core/base/error.hpp"

namespace lensd {

struct VirtualCamera::Node {};

VirtualCamera::VirtualCamera(bool dither) : dither_(dither) {}
VirtualCamera::~VirtualCamera() = default;

void VirtualCamera::start(const std::string& name) {
  check_virtual_camera_name(name);
  throw Error(ExitCode::unavailable, "virtual camera", "this lensd was built without PipeWire",
              "install libpipewire-0.3-dev and libsystemd-dev, and build again");
}

void VirtualCamera::stop() {}
void VirtualCamera::write(ConstImageRef, PixelAspect, double) {}
VirtualCamera::Status VirtualCamera::status() const {
  return {};
}

}  // namespace lensd
