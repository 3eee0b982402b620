// lensd manual, lensd completion, and the command that completion scripts call.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/help/completion.hpp"
#include "app/help/manual.hpp"
#include "app/run.hpp"
#include "core/config/presets.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

/// Returns the video devices, without opening them.
std::vector<std::string> video_devices() {
  std::vector<std::string> devices;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error))
    if (entry.path().filename().string().starts_with("video")) devices.push_back(entry.path().string());
  std::ranges::sort(devices);
  return devices;
}

}  // namespace

void run_manual() {
  fmt::print("{}", manual_page(program_help(), registry()));
}

void run_completion(const CommandLine& line) {
  fmt::print("{}", completion_script(line.shell));
}

void run_complete(const std::vector<std::string>& words) {
  CompletionContext context{program_help(), registry(), {}, video_devices()};
  for (const PresetFile& preset : list_presets(preset_folders())) context.presets.push_back(preset.name);
  fmt::print("{}", completion_text(complete(context, words)));
}

}  // namespace lensd
