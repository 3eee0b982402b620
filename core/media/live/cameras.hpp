// Video4Linux cameras: which are there and what they deliver, asked of the kernel directly.
//
// Plain functions; any thread. Devices are opened without blocking and closed again, which disturbs no
// stream.
#pragma once

#include <string>
#include <vector>

#include "core/image/view.hpp"

namespace lensd {

struct CameraMode {
  Extent size;
  std::vector<double> rates;  ///< frames a second, highest first; may be empty: the driver does not tell
};

struct CameraFormat {
  std::string fourcc, description;  ///< "MJPG", "Motion-JPEG"
  std::string format;  ///< what [source] format takes: "mjpeg"; empty: FFmpeg cannot be asked for it
  std::vector<CameraMode> modes;  ///< largest first
};

struct Camera {
  std::string path;   ///< /dev/video0
  std::string by_id;  ///< /dev/v4l/by-id/…, the same camera whatever the order of plugging; may be empty
  std::string name;   ///< as the driver says
  std::vector<CameraFormat> formats;
};

/// Every device below `folder` that captures video, in the order of their numbers.
std::vector<Camera> list_cameras(const std::string& folder = "/dev");

/// Why `path` is no camera and will never be one: a file, a device of another kind. Empty while it may be: it
/// is one, or it is not plugged in.
std::string never_a_camera(const std::string& path);

/// Why the camera at `path` cannot be opened now; empty when it can. Streaming may still be refused (busy).
std::string camera_obstacle(const std::string& path);

/// "MJPG" for its number.
std::string fourcc_text(uint32_t fourcc);

}  // namespace lensd
