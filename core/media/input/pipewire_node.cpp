#include <string_view>

#include "core/media/input/pipewire_capture.hpp"

namespace lensd {

std::string pipewire_node_of(const std::string& url) {
  constexpr std::string_view prefix = "pipewire:";
  return url.starts_with(prefix) ? url.substr(prefix.size()) : url;
}

}  // namespace lensd
