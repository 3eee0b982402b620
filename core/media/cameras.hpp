// Video4Linux cameras and their modes, queried from the kernel. Thread-safe.
//
// Queries open a device without blocking and close it again. They do not disturb running streams.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/image/view.hpp"
#include "core/media/pipewire_nodes.hpp"

namespace lensd {

struct CameraMode {
  Extent size;
  /// Frames per second, highest first. For a range: its ends and the common rates inside. Empty: unknown.
  std::vector<double> rates;
  double lowest_rate = 0, highest_rate = 0;  ///< ends of a range of rates; 0: `rates` lists all rates
};

/// A range of sizes in pixels.
struct SizeRange {
  Extent min, max;
  Extent step{1, 1};

  bool contains(Extent size) const noexcept {
    const auto inside = [](int value, int low, int high, int interval) {
      return value >= low && value <= high && (interval < 2 || (value - low) % interval == 0);
    };
    return inside(size.width, min.width, max.width, step.width) &&
           inside(size.height, min.height, max.height, step.height);
  }
};

struct CameraFormat {
  uint32_t code = 0;                    ///< the kernel's format code (FourCC)
  std::string fourcc, description;      ///< such as "MJPG", "Motion-JPEG"
  std::string format;                   ///< FFmpeg's name, such as "mjpeg"; empty: lensd cannot read it
  std::vector<CameraMode> modes;        ///< largest first; of a range: its limits and common sizes
  std::optional<SizeRange> range = {};  ///< nullopt: `modes` lists all sizes
  /// For a range: the size of the input's signal, else the device's current size. It is one of `modes`, and
  /// is used if no size is requested. Empty: unknown.
  Extent own_size = {};
};

struct Camera {
  std::string path;  ///< device file, such as /dev/video0
  /// Link in /dev/v4l/by-id. Does not depend on the order in which devices are plugged in. May be empty.
  std::string by_id;
  std::string name;  ///< the driver's name of the camera
  /// Raw node of an image processor (Intel IPU6, Raspberry Pi). It streams only after its media graph was
  /// configured, which libcamera does and lensd does not. The camera is then a node of PipeWire.
  bool raw = false;
  std::vector<CameraFormat> formats;

  /// Returns true if lensd reads one of the formats.
  bool readable() const;
};

/// What to do about a raw node, for messages.
inline constexpr const char* kRawNodeHint = "raw node of an image processor; use the source pipewire:";
/// Reason why no camera can be opened if all cameras are raw nodes.
inline constexpr const char* kOnlyRawNodes =
    "The camera has an image processor, which needs libcamera and PipeWire";

/// Returns the devices videoN in `folder` that can be opened and capture video, ordered by N.
std::vector<Camera> list_cameras(const std::string& folder = "/dev");

/// Returns the address of the first camera that may play: not raw, readable, and `opens(path)`. If there is
/// none, returns the address of the first camera that only PipeWire offers (through libcamera), or an empty
/// string. Calls `nodes` only if no device may play.
std::string choose_camera(const std::vector<Camera>& cameras,
                          const std::function<bool(const std::string&)>& opens,
                          const std::function<std::vector<PipewireNode>()>& nodes);

/// Returns why `path` can never be a camera, for example because it is a file or another kind of device.
/// Returns an empty string if it is a camera or may become one.
std::string never_a_camera(const std::string& path);

/// Returns why `path` cannot be opened as a camera now, or an empty string if it can. Streaming may still
/// fail, for example if another program uses the camera.
std::string camera_obstacle(const std::string& path);

/// Returns a format code as text, for example "MJPG", with "-BE" appended if its samples are big-endian.
/// Replaces spaces and unprintable characters with '.', but omits them at the end.
std::string fourcc_text(uint32_t fourcc);

}  // namespace lensd
