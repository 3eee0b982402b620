#include <algorithm>

#include "core/base/error.hpp"
#include "core/media/virtual_camera.hpp"

namespace lensd {

void check_virtual_camera_name(const std::string& name) {
  constexpr size_t kMostBytes = 64;
  const bool printable =
      std::ranges::none_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '/'; });
  if (name.empty() || name.size() > kMostBytes || !printable)
    throw Error(ExitCode::usage, "",
                "the name of a virtual camera is text of 1 to 64 bytes, without '/' and control characters");
}

const char* name(VirtualCamera::State state) {
  constexpr const char* kNames[] = {"off", "waiting", "ready", "streaming"};
  return kNames[static_cast<size_t>(state)];
}

}  // namespace lensd
