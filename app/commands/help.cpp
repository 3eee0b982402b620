// lensd manual, lensd completion, and the command that completion scripts call.

#include <algorithm>
#include <cstdio>
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
  std::sort(devices.begin(), devices.end());
  return devices;
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
}

}  // namespace

void run_manual() {
  print(manual_page(program_help(), registry()));
}

void run_completion(const CommandLine& line) {
  print(completion_script(line.shell));
}

void run_complete(const std::vector<std::string>& words) {
  CompletionContext context{program_help(), registry(), {}, video_devices()};
  for (const PresetFile& preset : list_presets(preset_folders())) context.presets.push_back(preset.name);
  print(completion_text(complete(context, words)));
}

}  // namespace lensd
