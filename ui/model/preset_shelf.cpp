#include "ui/model/preset_shelf.hpp"

#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"
#include "core/config/save.hpp"

namespace lensd::ui {
namespace {

/// Returns the text of preset `from`, whose comments save_as() keeps. Returns an empty string if `from` is
/// null, if the file cannot be read, or if holds_only_graph() returns false for it.
std::string base_text(const PresetFile* from, const Registry& registry) {
  if (!from) return {};
  try {
    const std::string text = read_whole_file(from->path, kMaxConfigBytes).value_or("");
    return holds_only_graph(text, registry) ? text : std::string();
  } catch (const Error&) {
    return {};  // if the file cannot be read, only the comments are lost
  }
}

}  // namespace

int PresetShelf::keep_preset(PresetFile file, GraphDesc graph) {
  ++changes_;
  last_used_ = file.path;
  for (size_t i = 0; i < known_.size(); ++i)
    if (known_[i].file.path == file.path) {
      known_[i].graph = std::move(graph), known_[i].removed = false;
      return static_cast<int>(i);
    }
  known_.push_back({std::move(file), std::move(graph)});
  return static_cast<int>(known_.size()) - 1;
}

void PresetShelf::started_with(const std::string& path, GraphDesc graph, GraphEditor& editor) {
  editor.set_preset(keep_preset(preset_at(folders_, path), std::move(graph)));
}

PresetShelf::Settings PresetShelf::load(const std::string& path, GraphEditor& editor) {
  const PresetFile file = preset_at(folders_, path);
  if (!editor.registry()) return {};
  GraphDesc graph = load_preset(path, *editor.registry());
  const std::string what = "load " + file.name;
  const int number = keep_preset(file, graph);
  editor.replace(std::move(graph), what, number);
  const Config config = load_config(path, *editor.registry(), FileKind::any, GraphCheck::values);
  Settings settings{config.source_controls, std::nullopt};
  if (config.has("graph.precision")) settings.precision = config.precision;
  return settings;
}

void PresetShelf::resume(GraphDesc graph, const std::string& path, GraphEditor& editor) {
  if (!editor.registry()) return;
  int number = -1;
  try {
    if (!path.empty()) number = keep_preset(preset_at(folders_, path), load_preset(path, *editor.registry()));
  } catch (const Error&) {
    // If the preset cannot be read, the graph has no preset.
  }
  editor.replace(std::move(graph), "resume the last graph", number);
}

const PresetFile* PresetShelf::current(const GraphEditor& editor) const {
  const int number = editor.preset();
  if (number < 0 || number >= static_cast<int>(known_.size())) return nullptr;
  const Known& known = known_[static_cast<size_t>(number)];
  return known.removed ? nullptr : &known.file;
}

bool PresetShelf::unsaved(const GraphEditor& editor) {
  if (!editor.registry()) return false;
  if (!has_first_) first_ = editor.graph(), has_first_ = true;
  if (checked_revision_ == editor.revision() && checked_preset_ == editor.preset() &&
      checked_changes_ == changes_)
    return unsaved_;
  checked_revision_ = editor.revision(), checked_preset_ = editor.preset(), checked_changes_ = changes_;
  const GraphDesc& kept = current(editor) ? known_[static_cast<size_t>(editor.preset())].graph : first_;
  return unsaved_ = !equivalent(editor.graph(), kept, *editor.registry());
}

void PresetShelf::revert(GraphEditor& editor) {
  const PresetFile* file = current(editor);
  const int number = editor.preset();
  editor.replace(file ? known_[static_cast<size_t>(number)].graph : first_,
                 "revert" + (file ? " to " + file->name : std::string()), number);
}

bool PresetShelf::save(GraphEditor& editor, Precision precision) {
  const PresetFile* file = current(editor);
  if (!file || file->example || !editor.registry()) return false;
  save_graph(file->path, {editor.graph(), precision}, *editor.registry());
  keep_preset(*file, editor.graph());
  return true;
}

bool PresetShelf::save_controls(const ControlValues& values, const GraphEditor& editor) {
  const PresetFile* file = current(editor);
  if (!file || file->example || !editor.registry()) return false;
  lensd::save_controls(file->path, values, *editor.registry());
  return true;
}

void PresetShelf::save_as(const std::string& name, GraphEditor& editor, Precision precision) {
  if (!editor.registry()) return;
  const std::string path = own_preset_path(folders_, name);
  save_graph_as(path, {editor.graph(), precision}, base_text(current(editor), *editor.registry()),
                *editor.registry());
  editor.set_preset(keep_preset({name, path, false}, editor.graph()));
  refresh();
}

bool PresetShelf::replaces(const std::string& name, const GraphEditor& editor) const {
  try {
    const std::string path = own_preset_path(folders_, name);
    std::error_code error;
    const PresetFile* file = current(editor);
    return std::filesystem::exists(path, error) && !(file && file->path == path);
  } catch (const Error&) {
    return false;  // save_as() reports the problem
  }
}

void PresetShelf::remove(const std::string& path) {
  delete_preset(path);
  if (last_used_ == path) last_used_.clear();
  for (Known& known : known_) known.removed = known.removed || known.file.path == path;
  ++changes_;
  refresh();
}

}  // namespace lensd::ui
