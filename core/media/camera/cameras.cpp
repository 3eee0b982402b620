#include "core/media/cameras.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include "core/media/camera/v4l2_device.hpp"
#include "core/media/camera/v4l2_modes.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

/// Returns the links in `folder`/v4l/by-id. Keys: the device files to which they point.
std::map<std::string, std::string> names_by_id(const std::string& folder) {
  std::map<std::string, std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder + "/v4l/by-id", ignored)) {
    const fs::path target = fs::canonical(entry.path(), ignored);
    if (!target.empty()) names.emplace(target.string(), entry.path().string());
  }
  return names;
}

}  // namespace

std::string fourcc_text(uint32_t fourcc) {
  std::string out;
  for (int shift = 0; shift < 32; shift += 8) {
    const char c = static_cast<char>(fourcc >> shift & 0x7F);
    out += c > ' ' && c < 127 ? c : '.';
  }
  while (!out.empty() && out.back() == '.') out.pop_back();
  return fourcc >> 31 ? out + "-BE" : out;
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
  std::ranges::sort(nodes);
  const auto names = names_by_id(folder);
  std::vector<Camera> cameras;
  for (const auto& [number, path] : nodes) {
    V4l2Device device(path);
    v4l2_capability capability = {};
    if (!device.is_open() || !device.query(VIDIOC_QUERYCAP, capability) || !captures_video(capability))
      continue;
    const auto stable = names.find(fs::canonical(path, ignored).string());
    cameras.push_back({path, stable == names.end() ? "" : stable->second, v4l2_text(capability.card),
                       is_raw_node(capability), camera_formats(device, capability)});
  }
  return cameras;
}

bool Camera::readable() const {
  return std::ranges::any_of(formats, [](const CameraFormat& format) { return !format.format.empty(); });
}

std::string choose_camera(const std::vector<Camera>& cameras,
                          const std::function<bool(const std::string&)>& opens,
                          const std::function<std::vector<PipewireNode>()>& nodes) {
  for (const Camera& camera : cameras)
    if (!camera.raw && camera.readable() && opens(camera.path))
      return camera.by_id.empty() ? camera.path : camera.by_id;
  // Skip nodes of programs, such as another lensd's virtual camera. They are opened only on request.
  for (const PipewireNode& node : nodes())
    if (node.camera && node.device && !node.v4l2)
      return "pipewire:" + (node.name.empty() ? node.serial : node.name);
  return {};
}

std::string never_a_camera(const std::string& path) {
  if (path.empty() || path.front() != '/') return "name a camera by its device file, such as /dev/video0";
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return {};
  if (!S_ISCHR(status.st_mode)) return "this is not a device";
  V4l2Device device(path);
  v4l2_capability capability = {};
  if (!device.is_open()) return {};
  if (!device.query(VIDIOC_QUERYCAP, capability)) {
    const int error = device.error();
    return error == ENOTTY || error == EINVAL ? "this device is not a camera" : "";
  }
  return never_captures(capability);
}

std::string camera_obstacle(const std::string& path) {
  V4l2Device device(path);
  v4l2_capability capability = {};
  if (!device.is_open() || !device.query(VIDIOC_QUERYCAP, capability))
    return camera_error(device.error(), path);
  return capture_obstacle(capability);
}

}  // namespace lensd
