#include "core/media/camera/camera_identity.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "core/media/camera/v4l2_device.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

std::string attribute(const fs::path& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

/// Returns the attributes from which udev builds the name in /dev/v4l/by-id: vendor, product, serial number,
/// and index of the node. Returns an empty string for devices that are not USB. `node`: the kernel's folder
/// of the video device.
std::string usb_name(const fs::path& node) {
  const fs::path usb = node / "device" / "..";
  const std::string vendor = attribute(usb / "idVendor");
  if (vendor.empty()) return {};
  return fmt::format("{}:{}:{}:{}", vendor, attribute(usb / "idProduct"), attribute(usb / "serial"),
                     attribute(node / "index"));
}

/// Returns true if another video device in `nodes` has the same usb_name() as `device`.
bool has_twin(const fs::path& nodes, const std::string& device) {
  const std::string name = usb_name(nodes / device);
  if (name.empty()) return false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(nodes, error))
    if (entry.path().filename() != device && usb_name(entry.path()) == name) return true;
  return false;
}

}  // namespace

CameraIdentity camera_identity(const std::string& path, const v4l2_capability& capability,
                               const std::string& links, const std::string& nodes) {
  CameraIdentity identity{
      .bus = fmt::format("{} ({})", v4l2_text(capability.card), v4l2_text(capability.bus_info))};
  std::error_code error;
  const fs::path device = fs::canonical(path, error);
  if (error) return identity;
  const std::string node = device.filename().string();
  // The cameras of one USB device, such as colour and infrared, have the same bus and the same index. Only
  // the interface number differs.
  const std::string interface = attribute(fs::path(nodes) / node / "device" / "bInterfaceNumber");
  if (!interface.empty() && interface != "00") identity.bus += fmt::format(" interface {}", interface);
  identity.shared_link = has_twin(nodes, node);
  if (identity.shared_link) return identity;
  for (const auto& entry : fs::directory_iterator(links, error)) {
    std::error_code ignored;
    if (identity.link.empty() && fs::canonical(entry.path(), ignored) == device)
      identity.link = entry.path().filename().string();
  }
  return identity;
}

}  // namespace lensd
