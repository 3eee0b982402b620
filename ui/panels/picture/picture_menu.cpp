// Draws the context menu of the picture, for users who do not know the keys.
#include "ui/keys.hpp"
#include "ui/panel.hpp"
#include "ui/widgets/text_row.hpp"

namespace lensd::ui {
namespace {

struct Menu {
  PanelContext& ctx;
  const Rect& own;
  ViewerRequests& requests;

  bool chosen(const char* text, const char* name, const std::string& key, bool on = false,
              bool enabled = true) const {
    const bool chosen = ImGui::MenuItem(text, key.c_str(), on, enabled);
    ctx.mark("menu", name);
    return chosen;
  }
  /// Draws an item that does what the action's key does.
  void item(const char* text, const char* name, Action action, bool on = false, bool enabled = true) const {
    if (chosen(text, name, key_text(action), on, enabled)) run_action(action, ctx, own, requests);
  }
};

void file_items(const Menu& menu) {
  const ViewerModel& m = menu.ctx.model;
  UiState& s = menu.ctx.state;
  menu.item("Open…", "open", Action::open_source);
  const bool file = !m.source_path.empty();
  if (menu.chosen("Show in its folder", "folder", "", false, file))
    s.source.ask = true, s.source.select = m.source_path;
  if (menu.chosen(file ? "Copy path" : "Copy address", "copy_path", "", false,
                  file || !m.source_address.empty())) {
    const std::string& text = file ? m.source_path : m.source_address;
    ImGui::SetClipboardText(text.c_str());
    menu.ctx.notify(false, "Copied " + text);
  }
}

void aspect_items(const Menu& menu) {
  const bool open = ImGui::BeginMenu("Aspect ratio");
  menu.ctx.mark("menu", "aspect");
  if (!open) return;
  int& aspect = menu.ctx.state.aspect;
  const auto choices = aspect_choices();
  for (int i = 0; i < static_cast<int>(choices.size()); ++i) {
    const char* name = choices[static_cast<size_t>(i)].name;
    if (ImGui::MenuItem(name, nullptr, aspect == i)) aspect = i;
    menu.ctx.mark("menu", "aspect", name);
  }
  ImGui::EndMenu();
}

/// Draws the list of video tracks if the source has several.
void track_items(const Menu& menu) {
  const ViewerModel& m = menu.ctx.model;
  if (m.video_tracks.size() < 2) return;
  const bool open = ImGui::BeginMenu("Video track");
  menu.ctx.mark("menu", "video_track");
  if (!open) return;
  for (int number = 1; number <= static_cast<int>(m.video_tracks.size()); ++number) {
    const std::string text =
        fmt::format("{}: {}", number, label_text(m.video_tracks[static_cast<size_t>(number - 1)]));
    if (menu.chosen(text.c_str(), fmt::format("video_track/{}", number).c_str(), "", m.video_track == number))
      menu.requests.video_track = number;
  }
  ImGui::EndMenu();
}

void draw_items(const Menu& menu) {
  const UiState& s = menu.ctx.state;
  const GraphDesc& graph = menu.ctx.editor().graph();
  const bool tracked = menu.ctx.model.track_table() != nullptr;
  const bool editable = menu.ctx.editor().registry() != nullptr;
  file_items(menu);
  track_items(menu);
  ImGui::Separator();
  menu.item("Snapshot", "snapshot", Action::snapshot);
  if (menu.chosen("Copy picture", "copy_picture", "")) menu.requests.copy_picture = true;
  menu.item(menu.ctx.model.recording ? "Stop recording" : "Record", "record", Action::record,
            menu.ctx.model.recording);
  menu.item("Virtual camera", "virtual_camera", Action::virtual_camera, menu.ctx.model.virtual_camera.wanted);
  ImGui::Separator();
  menu.item("Mirror", "mirror", Action::mirror, graph.find("mirror") != nullptr, editable);
  menu.item("Turn by 90°", "rotate", Action::rotate, graph.find("turn") != nullptr, editable);
  aspect_items(menu);
  menu.item("Fit into the window", "fit", Action::fit, s.view.fits());
  menu.item("One to one", "actual", Action::actual_size);
  ImGui::Separator();
  menu.item("Compare", "compare", Action::compare_split, s.compare.mode == CompareMode::split);
  menu.item("Probe", "probe", Action::probe, s.probe.on);
  menu.item("Tracks", "tracks", Action::tracks, s.tracks.overlay && tracked, tracked);
  ImGui::Separator();
  menu.item("Panels", "panels", Action::panels, s.panels);
  menu.item("Full screen", "fullscreen", Action::fullscreen, s.fullscreen);
  menu.item("Always on top", "on_top", Action::on_top, s.on_top);
  menu.item("Without a border", "borderless", Action::borderless, s.borderless);
  menu.item("Keys", "keys", Action::help, s.help);
}

}  // namespace

void draw_picture_menu(PanelContext& ctx, const Rect& area, const Rect& own, ViewerRequests& requests) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!io.WantCaptureMouse && area.contains(io.MousePos.x, io.MousePos.y) && ImGui::IsMouseReleased(1))
    ImGui::OpenPopup("##picture_menu");
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {ctx.px(10), ctx.px(8)});
  if (!ImGui::BeginPopup("##picture_menu")) return;
  draw_items({ctx, own, requests});
  ImGui::EndPopup();
}

}  // namespace lensd::ui
