#include "core/media/live/cameras.hpp"

#include <fcntl.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

namespace lensd {
namespace {

namespace fs = std::filesystem;

/// An open device; asks and says whether the kernel answered.
class Device {
 public:
  explicit Device(const std::string& path) : fd_(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)) {
    error_ = fd_ < 0 ? errno : 0;
  }
  ~Device() {
    if (fd_ >= 0) close(fd_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  template <class T>
  bool ask(unsigned long request, T& about) {
    int result = -1;
    do result = ioctl(fd_, request, &about);
    while (result < 0 && errno == EINTR);
    error_ = result < 0 ? errno : 0;
    return result >= 0;
  }
  bool is_open() const { return fd_ >= 0; }
  int error() const { return error_; }

 private:
  int fd_, error_ = 0;
};

/// Node's own capabilities: a camera often has a second node that delivers metadata only.
bool captures(const v4l2_capability& about) {
  const uint32_t here = about.capabilities & V4L2_CAP_DEVICE_CAPS ? about.device_caps : about.capabilities;
  return (here & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE)) && (here & V4L2_CAP_STREAMING);
}

std::string text(const unsigned char* bytes, size_t size) {
  const char* begin = reinterpret_cast<const char*>(bytes);
  return std::string(begin, strnlen(begin, size));
}

/// The names by which FFmpeg's v4l2 demuxer is asked for a format.
std::string ffmpeg_name(uint32_t fourcc) {
  switch (fourcc) {
    case V4L2_PIX_FMT_MJPEG:
    case V4L2_PIX_FMT_JPEG:
      return "mjpeg";
    case V4L2_PIX_FMT_H264:
      return "h264";
    case V4L2_PIX_FMT_YUYV:
      return "yuyv422";
    case V4L2_PIX_FMT_UYVY:
      return "uyvy422";
    case V4L2_PIX_FMT_NV12:
      return "nv12";
    case V4L2_PIX_FMT_YUV420:
      return "yuv420p";
    case V4L2_PIX_FMT_GREY:
      return "gray";
    case V4L2_PIX_FMT_RGB24:
      return "rgb24";
    case V4L2_PIX_FMT_BGR24:
      return "bgr24";
    default:
      return {};
  }
}

double per_second(const v4l2_fract& interval) {
  return interval.numerator ? static_cast<double>(interval.denominator) / interval.numerator : 0;
}

std::vector<double> rates_of(Device& device, uint32_t fourcc, Extent size) {
  std::vector<double> rates;
  v4l2_frmivalenum about = {};
  about.pixel_format = fourcc;
  about.width = static_cast<uint32_t>(size.width), about.height = static_cast<uint32_t>(size.height);
  for (; about.index < 256 && device.ask(VIDIOC_ENUM_FRAMEINTERVALS, about); ++about.index) {
    if (about.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
      rates.push_back(per_second(about.discrete));
      continue;
    }
    rates.push_back(per_second(about.stepwise.min));  // a range: its ends
    rates.push_back(per_second(about.stepwise.max));
    break;
  }
  std::sort(rates.rbegin(), rates.rend());
  return rates;
}

std::vector<CameraMode> modes_of(Device& device, uint32_t fourcc) {
  std::vector<CameraMode> modes;
  const auto add = [&](uint32_t width, uint32_t height) {
    const Extent size{static_cast<int>(width), static_cast<int>(height)};
    modes.push_back({size, rates_of(device, fourcc, size)});
  };
  v4l2_frmsizeenum about = {};
  about.pixel_format = fourcc;
  for (; about.index < 256 && device.ask(VIDIOC_ENUM_FRAMESIZES, about); ++about.index) {
    if (about.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
      add(about.discrete.width, about.discrete.height);
      continue;
    }
    add(about.stepwise.max_width, about.stepwise.max_height);
    add(about.stepwise.min_width, about.stepwise.min_height);
    break;
  }
  std::stable_sort(modes.begin(), modes.end(), [](const CameraMode& a, const CameraMode& b) {
    return int64_t{a.size.width} * a.size.height > int64_t{b.size.width} * b.size.height;
  });
  return modes;
}

std::vector<CameraFormat> formats_of(Device& device) {
  std::vector<CameraFormat> formats;
  v4l2_fmtdesc about = {};
  about.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  for (; about.index < 256 && device.ask(VIDIOC_ENUM_FMT, about); ++about.index)
    formats.push_back({fourcc_text(about.pixelformat), text(about.description, sizeof about.description),
                       ffmpeg_name(about.pixelformat), modes_of(device, about.pixelformat)});
  return formats;
}

/// Device file → its stable name.
std::map<std::string, std::string> stable_names(const std::string& folder) {
  std::map<std::string, std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder + "/v4l/by-id", ignored)) {
    const fs::path target = fs::canonical(entry.path(), ignored);
    if (!target.empty()) names.emplace(target.string(), entry.path().string());
  }
  return names;
}

std::string open_problem(int error) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return "the camera is not there";
    case EACCES:
    case EPERM:
      return "no permission to open the camera (add the user to the group video)";
    case EBUSY:
      return "the camera is in use by another program";
    default:
      return fmt::format("the camera cannot be opened: {}", std::strerror(error));
  }
}

}  // namespace

std::string fourcc_text(uint32_t fourcc) {
  std::string out;
  for (int shift = 0; shift < 32; shift += 8) {
    const char c = static_cast<char>(fourcc >> shift & 0x7F);
    out += c > ' ' && c < 127 ? c : '.';
  }
  while (!out.empty() && out.back() == '.') out.pop_back();
  return out;
}

std::vector<Camera> list_cameras(const std::string& folder) {
  std::vector<std::pair<int, std::string>> nodes;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string file = entry.path().filename().string();
    if (file.rfind("video", 0) == 0 && file.size() > 5 &&
        file.find_first_not_of("0123456789", 5) == std::string::npos && file.size() < 12)
      nodes.emplace_back(std::stoi(file.substr(5)), entry.path().string());
  }
  std::sort(nodes.begin(), nodes.end());
  const auto names = stable_names(folder);
  std::vector<Camera> cameras;
  for (const auto& [number, path] : nodes) {
    Device device(path);
    v4l2_capability about = {};
    if (!device.is_open() || !device.ask(VIDIOC_QUERYCAP, about) || !captures(about)) continue;
    const auto stable = names.find(fs::canonical(path, ignored).string());
    cameras.push_back({path, stable == names.end() ? "" : stable->second, text(about.card, sizeof about.card),
                       formats_of(device)});
  }
  return cameras;
}

std::string never_a_camera(const std::string& path) {
  if (path.empty() || path.front() != '/') return "a camera is named by its device file, such as /dev/video0";
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return {};
  if (!S_ISCHR(status.st_mode)) return "this is no device";
  Device device(path);
  v4l2_capability about = {};
  if (!device.is_open()) return {};
  if (!device.ask(VIDIOC_QUERYCAP, about)) {
    const int error = device.error();
    return error == ENOTTY || error == EINVAL ? "this device is not a camera" : "";
  }
  return captures(about) ? ""
                         : "this device delivers no video (a camera often has a second node with metadata)";
}

std::string camera_obstacle(const std::string& path) {
  Device device(path);
  if (!device.is_open()) return open_problem(device.error());
  v4l2_capability about = {};
  if (!device.ask(VIDIOC_QUERYCAP, about)) return open_problem(device.error());
  return captures(about) ? "" : "this device delivers no video";
}

}  // namespace lensd
