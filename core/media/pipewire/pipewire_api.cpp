#include "core/media/pipewire/pipewire_api.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "core/base/error.hpp"

namespace lensd {
namespace {

constexpr const char* kLibrary = "libpipewire-0.3.so.0";

struct LoadedPipewire {
  PipewireApi api;
  std::string problem;

  LoadedPipewire() {
    void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      problem = std::string("the library ") + kLibrary + " is missing";
      return;
    }
#define LENSD_PIPEWIRE_LOAD(name)                                               \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, "pw_" #name)); \
  if (!api.name) problem = std::string(kLibrary) + " is too old: it has no pw_" #name;
    LENSD_PIPEWIRE_FUNCTIONS(LENSD_PIPEWIRE_LOAD)
#undef LENSD_PIPEWIRE_LOAD
    if (!problem.empty()) return;
    api.init(nullptr, nullptr);
    // lensd reports failures itself. The library writes to stderr only if PIPEWIRE_DEBUG is set.
    if (!std::getenv("PIPEWIRE_DEBUG")) api.log_set_level(SPA_LOG_LEVEL_NONE);
  }
};

}  // namespace

const PipewireApi& pipewire_api() {
  static const LoadedPipewire loaded;
  if (!loaded.problem.empty())
    throw Error(ExitCode::unavailable, "PipeWire", loaded.problem, "install the package libpipewire-0.3-0");
  return loaded.api;
}

}  // namespace lensd
