#include "core/base/error.hpp"
#include "core/base/text/text.hpp"
#include "core/media/virtual_camera.hpp"

namespace lensd {

void check_virtual_camera_name(const std::string& name) {
  constexpr size_t kMaxBytes = 64;
  if (name.empty() || name.size() > kMaxBytes || has_control_character(name) ||
      name.find('/') != std::string::npos)
    throw Error(ExitCode::usage, "",
                "the name of a virtual camera must have 1 to 64 bytes, without '/' or control characters");
}

const char* name(VirtualCamera::State state) {
  constexpr const char* kNames[] = {"off", "waiting", "ready", "streaming"};
  return kNames[static_cast<size_t>(state)];
}

}  // namespace lensd
