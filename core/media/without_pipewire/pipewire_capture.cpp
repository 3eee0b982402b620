#include "core/media/input/pipewire_capture.hpp"

#include "core/base/error.hpp"

namespace lensd {

struct PipewireCapture::Stream {};

PipewireCapture::PipewireCapture(const std::string&, const std::string& where, const Request&,
                                 const StopFlags&, int64_t)
    : monitor_() {
  throw Error(ExitCode::unavailable, where, "this lensd was built without PipeWire",
              "install libpipewire-0.3-dev and libsystemd-dev, and build again");
}
PipewireCapture::~PipewireCapture() = default;
AVPixelFormat PipewireCapture::pixels() const noexcept {
  return AV_PIX_FMT_NONE;
}
Extent PipewireCapture::size() const noexcept {
  return {};
}
double PipewireCapture::rate() const noexcept {
  return 0;
}
bool PipewireCapture::may_be_silent() const noexcept {
  return false;
}
int PipewireCapture::read(AVFrame&, PictureAllocator&) noexcept {
  return AVERROR(ENODEV);
}

}  // namespace lensd
