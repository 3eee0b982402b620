#include "core/config/presets.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/base/text/suggest.hpp"
#include "core/config/toml.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".toml";
constexpr size_t kLongestName = 100;  // bytes; file systems allow 255 for a whole file name

void list_folder(const fs::path& folder, bool example, std::vector<PresetFile>& out) {
  const size_t first = out.size();
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path path = it->path();
    std::error_code ignored;
    if (path.extension() != kSuffix || path.filename().string().starts_with('.') ||
        !fs::is_regular_file(path, ignored))
      continue;
    out.push_back({path.stem().string(), path.string(), example});
  }
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
            [](const PresetFile& a, const PresetFile& b) { return a.name < b.name; });
}

bool lies_below(const fs::path& path, const std::string& folder) {
  if (folder.empty()) return false;
  std::error_code error;
  const fs::path inside = fs::weakly_canonical(path, error), outside = fs::weakly_canonical(folder, error);
  const fs::path relative = inside.lexically_relative(outside);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

PresetFolders preset_folders() {
  const std::string config = config_folder();
  return {config.empty() ? "" : config + "/presets", example_folders()};
}

std::vector<PresetFile> list_presets(const PresetFolders& folders) {
  std::vector<PresetFile> all;
  if (!folders.own.empty()) list_folder(folders.own, false, all);
  const auto own = static_cast<std::ptrdiff_t>(all.size());
  for (const std::string& folder : folders.examples)
    for (const char* kind : {"presets", "graphs"}) list_folder(fs::path(folder) / kind, true, all);
  // If examples have the same name, keep the one from the first folder.
  std::stable_sort(all.begin() + own, all.end(),
                   [](const PresetFile& a, const PresetFile& b) { return a.name < b.name; });
  all.erase(std::unique(all.begin() + own, all.end(),
                        [](const PresetFile& a, const PresetFile& b) { return a.name == b.name; }),
            all.end());
  return all;
}

PresetFile preset_at(const PresetFolders& folders, const std::string& path) {
  const bool example = std::ranges::any_of(
      folders.examples, [&](const std::string& folder) { return lies_below(path, folder); });
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return {fs::path(path).stem().string(), error ? path : whole.string(), example};
}

std::string own_preset_path(const PresetFolders& folders, const std::string& name) {
  const auto refuse = [&](const char* why) {
    throw Error(ExitCode::usage, "preset '" + name + "'", why, "choose another name");
  };
  if (folders.own.empty())
    throw Error(ExitCode::usage, "presets", "no folder for presets", "set XDG_CONFIG_HOME or HOME");
  if (name.empty() || name.find_first_not_of(' ') == std::string::npos) refuse("the name is empty");
  if (name.front() == '.' || name.front() == ' ' || name.back() == ' ')
    refuse("a name must not start with a dot or blank, or end with a blank");
  if (name.find('/') != std::string::npos) refuse("a name must not contain /");
  if (name.size() > kLongestName) refuse("the name is too long");
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
    refuse("a name must not contain control characters");
  return folders.own + "/" + name + kSuffix;
}

std::string config_path(const PresetFolders& folders, const std::string& name) {
  std::error_code ignored;
  const fs::file_status status = fs::status(name, ignored);
  if (name.find('/') != std::string::npos || (fs::exists(status) && !fs::is_directory(status))) return name;
  std::vector<std::string> known;
  for (const PresetFile& preset : list_presets(folders)) {
    if (name == preset.name || name == preset.name + kSuffix) return preset.path;
    known.push_back(preset.name);
  }
  if (fs::is_directory(status)) return name;  // reading the folder then fails with a clear message
  const std::string stem = name.ends_with(kSuffix) ? fs::path(name).stem().string() : name;
  throw Error(ExitCode::invalid_config, name, "there is no such file, and no preset of this name",
              did_you_mean(stem, known, "check the path"));
}

GraphDesc load_preset(const std::string& path, const Registry& registry) {
  const Config config = load_config(path, registry, FileKind::any, GraphCheck::values);
  if (!config.graph) throw Error(ExitCode::invalid_config, path, "contains no graph", "add [[node]] tables");
  return *config.graph;
}

bool holds_only_graph(const std::string& text, const Registry& registry) {
  Config config;
  if (!parse_config(text, "preset", registry, config).empty() || !config.graph) return false;
  const toml::parse_result parsed = parse_toml(text, "preset");
  return parsed && std::all_of(parsed.table().begin(), parsed.table().end(), [](const auto& item) {
           const toml::table* table = item.second.as_table();
           return item.first.str() == "graph" || item.first.str() == "node" ||
                  (item.first.str() == "source" && table && table->size() == 1 &&
                   table->contains("controls"));
         });
}

void delete_preset(const std::string& path) {
  std::error_code error;
  if (!fs::remove(path, error) || error)
    throw Error(ExitCode::runtime_failure, path,
                "cannot be deleted: " + (error ? error.message() : "no such file"));
}

}  // namespace lensd
