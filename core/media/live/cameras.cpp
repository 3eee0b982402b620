#include "core/media/cameras.hpp"

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

/// An open device.
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

  /// ioctl(); false with error() set if it fails.
  template <class T>
  bool query(unsigned long request, T& data) {
    int result = -1;
    do result = ioctl(fd_, request, &data);
    while (result < 0 && errno == EINTR);
    error_ = result < 0 ? errno : 0;
    return result >= 0;
  }
  bool is_open() const { return fd_ >= 0; }
  int error() const { return error_; }

 private:
  int fd_, error_ = 0;
};

/// Checks the node's own capabilities: a camera often has a second node for metadata.
bool captures(const v4l2_capability& capability) {
  const uint32_t node =
      capability.capabilities & V4L2_CAP_DEVICE_CAPS ? capability.device_caps : capability.capabilities;
  return (node & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE)) && (node & V4L2_CAP_STREAMING);
}

std::string text(const unsigned char* bytes, size_t size) {
  const char* begin = reinterpret_cast<const char*>(bytes);
  return std::string(begin, strnlen(begin, size));
}

/// The format's name in FFmpeg's v4l2 demuxer; empty if it has none.
std::string ffmpeg_name(uint32_t fourcc) {
  constexpr std::pair<uint32_t, const char*> kNames[] = {
      {V4L2_PIX_FMT_MJPEG, "mjpeg"},    {V4L2_PIX_FMT_JPEG, "mjpeg"},   {V4L2_PIX_FMT_H264, "h264"},
      {V4L2_PIX_FMT_YUYV, "yuyv422"},   {V4L2_PIX_FMT_UYVY, "uyvy422"}, {V4L2_PIX_FMT_NV12, "nv12"},
      {V4L2_PIX_FMT_YUV420, "yuv420p"}, {V4L2_PIX_FMT_GREY, "gray"},    {V4L2_PIX_FMT_RGB24, "rgb24"},
      {V4L2_PIX_FMT_BGR24, "bgr24"}};
  for (const auto& [code, name] : kNames)
    if (code == fourcc) return name;
  return {};
}

double per_second(const v4l2_fract& interval) {
  return interval.numerator ? static_cast<double>(interval.denominator) / interval.numerator : 0;
}

std::vector<double> rates_of(Device& device, uint32_t fourcc, Extent size) {
  std::vector<double> rates;
  v4l2_frmivalenum entry = {};
  entry.pixel_format = fourcc;
  entry.width = static_cast<uint32_t>(size.width), entry.height = static_cast<uint32_t>(size.height);
  for (; entry.index < 256 && device.query(VIDIOC_ENUM_FRAMEINTERVALS, entry); ++entry.index) {
    if (entry.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
      rates.push_back(per_second(entry.discrete));
      continue;
    }
    rates.push_back(per_second(entry.stepwise.min));  // both ends of a range
    rates.push_back(per_second(entry.stepwise.max));
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
  v4l2_frmsizeenum entry = {};
  entry.pixel_format = fourcc;
  for (; entry.index < 256 && device.query(VIDIOC_ENUM_FRAMESIZES, entry); ++entry.index) {
    if (entry.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
      add(entry.discrete.width, entry.discrete.height);
      continue;
    }
    add(entry.stepwise.max_width, entry.stepwise.max_height);
    add(entry.stepwise.min_width, entry.stepwise.min_height);
    break;
  }
  std::stable_sort(modes.begin(), modes.end(), [](const CameraMode& a, const CameraMode& b) {
    return int64_t{a.size.width} * a.size.height > int64_t{b.size.width} * b.size.height;
  });
  return modes;
}

std::vector<CameraFormat> formats_of(Device& device) {
  std::vector<CameraFormat> formats;
  v4l2_fmtdesc entry = {};
  entry.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  for (; entry.index < 256 && device.query(VIDIOC_ENUM_FMT, entry); ++entry.index)
    formats.push_back({fourcc_text(entry.pixelformat), text(entry.description, sizeof entry.description),
                       ffmpeg_name(entry.pixelformat), modes_of(device, entry.pixelformat)});
  return formats;
}

/// Device file → name in /dev/v4l/by-id.
std::map<std::string, std::string> names_by_id(const std::string& folder) {
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
      return "no permission to open the camera (add yourself to the group 'video')";
    case EBUSY:
      return "the camera is in use by another program";
    default:
      return fmt::format("cannot open the camera: {}", std::strerror(error));
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
  const auto names = names_by_id(folder);
  std::vector<Camera> cameras;
  for (const auto& [number, path] : nodes) {
    Device device(path);
    v4l2_capability capability = {};
    if (!device.is_open() || !device.query(VIDIOC_QUERYCAP, capability) || !captures(capability)) continue;
    const auto stable = names.find(fs::canonical(path, ignored).string());
    cameras.push_back({path, stable == names.end() ? "" : stable->second,
                       text(capability.card, sizeof capability.card), formats_of(device)});
  }
  return cameras;
}

std::string never_a_camera(const std::string& path) {
  if (path.empty() || path.front() != '/') return "name a camera by its device file, such as /dev/video0";
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return {};
  if (!S_ISCHR(status.st_mode)) return "this is not a device";
  Device device(path);
  v4l2_capability capability = {};
  if (!device.is_open()) return {};
  if (!device.query(VIDIOC_QUERYCAP, capability)) {
    const int error = device.error();
    return error == ENOTTY || error == EINVAL ? "this device is not a camera" : "";
  }
  return captures(capability)
             ? ""
             : "this device delivers no video (a camera often has a second node for metadata)";
}

std::string camera_obstacle(const std::string& path) {
  Device device(path);
  v4l2_capability capability = {};
  if (!device.is_open() || !device.query(VIDIOC_QUERYCAP, capability)) return open_problem(device.error());
  return captures(capability) ? "" : "this device delivers no video";
}

}  // namespace lensd
