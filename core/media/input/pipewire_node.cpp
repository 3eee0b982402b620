#include <string_view>

#include "core/media/input/pipewire_capture.hpp"
#include "core/media/portal.hpp"

namespace lensd {

std::string pipewire_node_of(const std::string& url) {
  constexpr std::string_view prefix = "pipewire:";
  return url.starts_with(prefix) ? url.substr(prefix.size()) : url;
}

std::optional<PortalTarget> portal_target(const std::string& url) {
  if (url == "portal:") return PortalTarget::screen;
  if (url == "portal:camera") return PortalTarget::camera;
  return std::nullopt;
}

}  // namespace lensd
