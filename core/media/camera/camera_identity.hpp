// Identifies a camera across connections and runs.
#pragma once

#include <linux/videodev2.h>

#include <string>

namespace lensd {

/// Identity of a camera by its bus and its link in /dev/v4l/by-id. udev may create the link later than the
/// device node. Cameras with equal serial numbers, and several cameras in one USB device, share one link,
/// which points to one of them. The control values of such cameras are therefore stored by bus.
struct CameraIdentity {
  std::string bus;           ///< the device's name (card), the bus, and the USB interface unless it is 00
  std::string link = {};     ///< name in /dev/v4l/by-id; empty: none (yet), or shared
  bool shared_link = false;  ///< another camera shares the link

  /// Returns the value of SourceControls::device.
  const std::string& name() const noexcept { return link.empty() ? bus : link; }
  /// Returns true if both may be the same camera. Compares the links if both are known, else the buses.
  bool matches(const CameraIdentity& other) const noexcept {
    return link.empty() || other.link.empty() ? bus == other.bus : link == other.link;
  }
};

/// Returns an identity of the camera at `path` that stays the same after a restart, and after a reconnection
/// to the same USB port. `links`: folder of udev's links to devices. `nodes`: the kernel's folder of video
/// devices.
CameraIdentity camera_identity(const std::string& path, const v4l2_capability& capability,
                               const std::string& links = "/dev/v4l/by-id",
                               const std::string& nodes = "/sys/class/video4linux");

}  // namespace lensd
