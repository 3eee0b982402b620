// Draws the graph's preset with its menu, and the buttons for save, undo and redo.
#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "ui/keys.hpp"
#include "ui/panel.hpp"
#include "ui/widgets/text_row.hpp"

namespace lensd::ui {
namespace {

constexpr float kMenuButton = 24, kMenuWidth = 268;  // logical pixels

/// Runs `work`. Returns false and shows a message if it throws Error.
template <class F>
bool guarded(PanelContext& ctx, const F& work) {
  try {
    work();
    return true;
  } catch (const Error& e) {
    ctx.notify(true, e.what());
    return false;
  }
}

/// Loads a preset. Closes the menu, because ImGui does not close it after a click in a child window.
void load(PanelContext& ctx, const PresetFile& file) {
  ImGui::CloseCurrentPopup();
  PresetShelf::Settings settings;
  if (!guarded(ctx, [&] { settings = ctx.state.presets.load(file.path, ctx.editor()); })) return;
  ctx.state.graph.selected.clear();
  if (settings.precision) ctx.send(SetPrecision{*settings.precision});
  if (!settings.controls.empty()) ctx.send(SetSourceControls{std::move(settings.controls), true});
}

void menu_section(PanelContext& ctx, const char* text) {
  ImGui::Dummy({0, ctx.px(2)});
  small_text(ctx.look, colour::dim, text);
}

void own_line(PanelContext& ctx, const PresetFile& file, bool current) {
  PresetMenuState& m = ctx.state.preset_menu;
  const float room = ImGui::GetContentRegionAvail().x;
  if (m.delete_candidate == file.path) {
    ImGui::AlignTextToFramePadding();
    text_coloured(colour::text, elided("Delete " + file.name + "?", room - ctx.px(118)));
    ImGui::SameLine(room - ctx.px(104));
    if (ImGui::SmallButton("Delete")) {
      if (guarded(ctx, [&] { ctx.state.presets.remove(file.path); }))
        ctx.notify(false, "Deleted " + file.path);
      m.delete_candidate.clear();
    }
    ctx.mark("presets", "delete_yes");
    ImGui::SameLine();
    if (ImGui::SmallButton("Keep")) m.delete_candidate.clear();
    ctx.mark("presets", "delete_no");
    return;
  }
  if (text_row(file.name, current, room - ctx.px(26), colour::text)) load(ctx, file);
  ctx.mark("presets", "list", file.name);
  tooltip(ctx.look, file.path);
  ImGui::SameLine(room - ctx.px(18));
  if (small_button(ctx.look, "##delete", Icon::cross, 18, colour::faint)) m.delete_candidate = file.path;
  ctx.mark("presets", "delete", file.name);
  tooltip(ctx.look, "Delete this preset");
}

void draw_files(PanelContext& ctx) {
  const PresetShelf& shelf = ctx.state.presets;
  const PresetFile* current = shelf.current(ctx.editor());
  const std::vector<PresetFile> files = shelf.files();  // copied, because a line may load or delete presets
  const std::string now = current ? current->path : "";
  bool own = false, examples = false;
  for (const PresetFile& file : files) {
    ImGui::PushID(file.path.c_str());
    if (!file.example && !std::exchange(own, true)) menu_section(ctx, "My presets");
    if (file.example && !std::exchange(examples, true)) menu_section(ctx, "Examples");
    if (!file.example) {
      own_line(ctx, file, file.path == now);
    } else {
      if (ImGui::Selectable(label_text(file.name).c_str(), file.path == now)) load(ctx, file);
      ctx.mark("presets", "list", file.name);
      tooltip(ctx.look, file.path);
    }
    ImGui::PopID();
  }
  if (!own) {
    menu_section(ctx, "My presets");
    small_text(ctx.look, colour::faint,
               fmt::format("None yet. {} saves the graph as one.", key_text(Action::save_preset)));
  }
}

void draw_menu(PanelContext& ctx) {
  PresetShelf& shelf = ctx.state.presets;
  const PresetFile* file = shelf.current(ctx.editor());
  const bool unsaved = shelf.unsaved(ctx.editor());
  const auto item = [&](const char* text, const std::string& key, bool enabled, const char* name) {
    const bool chosen = ImGui::MenuItem(text, key.c_str(), false, enabled);
    ctx.mark("presets", name);
    return chosen;
  };
  if (item("Save", key_text(Action::save_preset), true, "menu_save")) save_preset(ctx);
  if (item("Save as…", key_text(Action::save_preset_as), true, "save_as")) save_preset_as(ctx);
  const std::string revert = file ? "Revert to " + label_text(file->name) : "Revert to the initial graph";
  if (item(revert.c_str(), "", unsaved, "revert")) shelf.revert(ctx.editor());
  const std::string& last = ctx.state.preset_menu.last_used;
  std::error_code error;
  if (!file && !last.empty() && std::filesystem::exists(last, error)) {
    const PresetFile again{std::filesystem::path(last).stem().string(), last, false};
    if (item(("Load " + label_text(again.name) + " as last time").c_str(), "", true, "last"))
      load(ctx, again);
  }
  ImGui::Separator();
  const float most = ImGui::GetIO().DisplaySize.y * 0.55f;
  // The list has the height of its content in the last frame.
  float& height = ctx.state.preset_menu.list_height;
  ImGui::BeginChild("##files", {0, std::min(std::max(ctx.px(height), ctx.px(40)), most)});
  const float top = ImGui::GetCursorPosY();
  draw_files(ctx);
  height = (ImGui::GetCursorPosY() - top) / ctx.look.scale;
  ImGui::EndChild();
}

void save_named(PanelContext& ctx) {
  PresetMenuState& m = ctx.state.preset_menu;
  try {
    ctx.state.presets.save_as(m.name, ctx.editor(), ctx.model.precision);
    ctx.notify(false, "Saved " + ctx.state.presets.last_used());
    ImGui::CloseCurrentPopup();
  } catch (const Error& e) {
    m.problem = e.what();
  }
}

void draw_name_question(PanelContext& ctx) {
  PresetMenuState& m = ctx.state.preset_menu;
  heading(ctx.look, "Save the graph as a preset");
  // ImGui::IsKeyPressed() would miss a key that is pressed and released between two frames.
  const bool entered = !m.focus_name && ctx.pressed(Key::enter);
  if (m.focus_name) ImGui::SetKeyboardFocusHere(), m.focus_name = false;
  ImGui::SetNextItemWidth(ctx.px(kMenuWidth));
  input_text("##name", m.name, 0, "name");
  ctx.mark("presets", "name");
  if (ImGui::IsItemEdited()) m.problem.clear();
  const bool replaces = ctx.state.presets.replaces(m.name, ctx.editor());
  ImGui::PushFont(ctx.look.small);
  ImGui::PushTextWrapPos(ctx.px(kMenuWidth + 8));
  if (!m.problem.empty())
    text_coloured(colour::problem, m.problem);
  else if (replaces)
    text_coloured(colour::accent, "A preset with this name exists and will be replaced.");
  else
    text_coloured(colour::dim, "Saved in " + ctx.state.presets.own_folder());
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::Dummy({0, ctx.px(2)});
  const bool pressed = ImGui::Button(replaces ? "Replace" : "Save", {ctx.px(90), 0});
  ctx.mark("presets", "name_save");
  ImGui::SameLine();
  const bool cancelled = ImGui::Button("Cancel", {ctx.px(90), 0});
  if (entered || pressed) save_named(ctx);
  if (cancelled || ctx.pressed(Key::escape)) ImGui::CloseCurrentPopup();
}

void draw_name(PanelContext& ctx, float width) {
  const PresetFile* file = ctx.state.presets.current(ctx.editor());
  const bool unsaved = ctx.state.presets.unsaved(ctx.editor());
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (ImGui::Button("##presets", {width, 0})) {
    ctx.state.presets.refresh();
    ctx.state.preset_menu.delete_candidate.clear();
    ImGui::OpenPopup("##preset_menu");
  }
  ctx.mark("presets", "menu");
  if (unsaved) ctx.mark("presets", "unsaved");
  if (tooltip_due())
    tooltip(ctx.look, file ? fmt::format("{}{}\nLoad, save and revert presets", file->path,
                                         unsaved ? "\nchanged since it was saved" : "")
                           : std::string("Load and save presets"));
  const ImVec2 end = ImGui::GetItemRectMax();
  const float y = at.y + (end.y - at.y - ImGui::GetFontSize()) * 0.5f;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  draw_icon(list, {end.x - ctx.px(11), (at.y + end.y) * 0.5f}, ctx.px(8), Icon::chevron_down, colour::dim);
  const std::string name = elided(file ? file->name : "Presets", width - ctx.px(unsaved ? 46 : 32));
  list.AddText({at.x + ctx.px(8), y}, file ? colour::text : colour::dim, name.c_str());
  if (unsaved)
    list.AddCircleFilled({at.x + ctx.px(18) + ImGui::CalcTextSize(name.c_str()).x, (at.y + end.y) * 0.5f},
                         ctx.px(3), colour::accent, 16);
}

void draw_preset_buttons(PanelContext& ctx) {
  const GraphHistory& history = ctx.editor().history();
  const bool unsaved = ctx.state.presets.unsaved(ctx.editor());
  ImGui::SameLine(0, ctx.px(4));
  if (small_button(ctx.look, "##save", Icon::save, kMenuButton, unsaved ? colour::accent : colour::dim))
    save_preset(ctx);
  ctx.item("presets", "save", "Save the graph as a preset", key_hint(Action::save_preset));
  ImGui::SameLine(0, 0);
  if (small_button(ctx.look, "##undo", Icon::undo, kMenuButton,
                   history.can_undo() ? colour::gray(190) : colour::gray(74)))
    ctx.editor().undo();
  ctx.item("graph", "undo", history.can_undo() ? "Undo: " + history.undo_name() : "Nothing to undo",
           key_hint(Action::undo));
  ImGui::SameLine(0, 0);
  if (small_button(ctx.look, "##redo", Icon::redo, kMenuButton,
                   history.can_redo() ? colour::gray(190) : colour::gray(74)))
    ctx.editor().redo();
  ctx.item("graph", "redo", history.can_redo() ? "Redo: " + history.redo_name() : "Nothing to redo",
           key_hint(Action::redo));
}

}  // namespace

void save_preset(PanelContext& ctx) {
  bool saved = false;
  const bool done = guarded(ctx, [&] { saved = ctx.state.presets.save(ctx.editor(), ctx.model.precision); });
  if (saved)
    ctx.notify(false, "Saved " + ctx.state.presets.last_used());
  else if (done)
    save_preset_as(ctx);
}

void save_preset_as(PanelContext& ctx) {
  PresetMenuState& m = ctx.state.preset_menu;
  const PresetFile* file = ctx.state.presets.current(ctx.editor());
  ctx.state.panels = true;
  if (!ctx.state.left_room) ctx.state.left = Fold::open, ctx.state.right_first = false;
  m.ask_name = true, m.focus_name = true, m.problem.clear();
  m.name = file ? file->name : "";
  if (file && file->example) m.name = "my " + m.name;  // examples are read-only
}

bool may_resume(const PanelContext& ctx) {
  return ctx.editor().registry() && ctx.editor().graph().nodes.empty() &&
         !ctx.editor().history().can_undo() && !ctx.state.preset_menu.last_graph.nodes.empty();
}

void resume_last_graph(PanelContext& ctx) {
  const PresetMenuState& m = ctx.state.preset_menu;
  ctx.state.presets.resume(m.last_graph, m.last_graph_preset, ctx.editor());
}

std::string last_graph_text(const PanelContext& ctx) {
  const PresetMenuState& m = ctx.state.preset_menu;
  std::string text;
  for (const NodeDesc& node : m.last_graph.nodes) text += (text.empty() ? "" : ", ") + node.id;
  if (!m.last_graph_preset.empty())
    text += "\nfrom the preset " + std::filesystem::path(m.last_graph_preset).stem().string();
  return text;
}

void draw_preset_row(PanelContext& ctx) {
  if (!ctx.editor().registry()) return;
  draw_name(ctx,
            ImGui::GetContentRegionAvail().x - ctx.px(3 * kMenuButton + 4) - precision_button_width(ctx));
  ImGui::SameLine(0, 0);
  draw_precision_button(ctx);
  draw_preset_buttons(ctx);
  PresetMenuState& m = ctx.state.preset_menu;
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {ctx.px(12), ctx.px(10)});
  const ImVec2 corner{ImGui::GetCursorScreenPos().x, ImGui::GetItemRectMax().y + ctx.px(4)};
  place_popup(ctx.look, corner, m.menu_height);
  ImGui::SetNextWindowSize({ctx.px(kMenuWidth), 0});
  if (ImGui::BeginPopup("##preset_menu")) {
    draw_menu(ctx);
    m.menu_height = ImGui::GetWindowHeight();
    if (ctx.pressed(Key::escape)) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
  }
  if (std::exchange(m.ask_name, false)) ImGui::OpenPopup("##preset_name");
  place_popup(ctx.look, corner, m.name_height);
  m.name_open = ImGui::BeginPopup("##preset_name", ImGuiWindowFlags_AlwaysAutoResize);
  if (m.name_open) {
    draw_name_question(ctx);
    m.name_height = ImGui::GetWindowHeight();
    ImGui::EndPopup();
  }
}

}  // namespace lensd::ui
