// Video4Linux cameras and their modes, queried from the kernel. Thread-safe.
//
// Queries open a device without blocking and close it again; running streams are not disturbed.
#pragma once

#include <string>
#include <vector>

#include "core/image/view.hpp"

namespace lensd {

struct CameraMode {
  Extent size;
  std::vector<double> rates;  ///< frames per second, highest first; empty: unknown
};

struct CameraFormat {
  std::string fourcc, description;  ///< "MJPG", "Motion-JPEG"
  std::string format;               ///< for [source] format: "mjpeg"; empty: FFmpeg has no name for it
  std::vector<CameraMode> modes;    ///< largest first
};

struct Camera {
  std::string path;   ///< /dev/video0
  std::string by_id;  ///< /dev/v4l/by-id/…, independent of the order of plugging; may be empty
  std::string name;   ///< from the driver
  std::vector<CameraFormat> formats;
};

/// All devices in `folder` that capture video, by number.
std::vector<Camera> list_cameras(const std::string& folder = "/dev");

/// Why `path` can never be a camera (a file, another kind of device); empty if it is one or may be plugged
/// in.
std::string never_a_camera(const std::string& path);

/// Why the camera at `path` cannot be opened now; empty if it can. Streaming may still fail (busy).
std::string camera_obstacle(const std::string& path);

/// The four characters of a format code: "MJPG".
std::string fourcc_text(uint32_t fourcc);

}  // namespace lensd
