// The source dialog: a text box for a path or URL, the files of a folder, and on the left recent sources,
// folders, cameras, the screen and test pictures.

#include <algorithm>
#include <utility>

#include "ui/panel.hpp"
#include "ui/panels/source/source_list.hpp"

namespace lensd::ui {
namespace {

constexpr float kWidth = 700, kHeight = 530, kPlaces = 218;  // logical pixels

void begin(PanelContext& ctx) {
  SourceState& s = ctx.state.source;
  s.ask = s.refused = s.requested = false, s.focus_box = true;
  s.text.clear(), s.camera.clear(), s.problem.clear();
  s.choice = -1, s.pipeline = ctx.model.pipeline, s.may_wait = false, s.all_recent = false;
  s.failures_seen = ctx.model.progress.failures, s.opening = !ctx.model.progress.opening.empty();
  if (!ctx.model.source_folder.empty()) s.folder = ctx.model.source_folder;
  if (const size_t slash = s.select.rfind('/'); slash != std::string::npos) {
    s.folder = slash == 0 ? "/" : s.select.substr(0, slash);
    s.select.erase(0, slash + 1);
  }
}

/// Handles Tab: replaces the text with the result of completed(). `UserData` is the SourceList.
int complete(ImGuiInputTextCallbackData* data) {
  const auto& list = *static_cast<const SourceList*>(data->UserData);
  const std::string whole(data->Buf, static_cast<size_t>(data->BufTextLen));
  if (const auto longer = completed(list, whole)) {
    data->DeleteChars(0, data->BufTextLen);
    data->InsertChars(0, longer->c_str());
  }
  return 0;
}

/// Draws the text box and the button. Returns true if Enter or the button was pressed.
bool draw_box(PanelContext& ctx, SourceList& list) {
  SourceState& s = ctx.state.source;
  const char* label = "Open";
  const float button = ImGui::CalcTextSize(label).x + ctx.px(24);
  // ImGui::IsKeyPressed() would miss a key that is pressed and released between two frames.
  const bool entered = !s.focus_box && ctx.pressed(Key::enter);
  if (s.focus_box) ImGui::SetKeyboardFocusHere();
  s.focus_box = false;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button - ctx.px(6));
  ImGuiInputTextFlags flags = ImGuiInputTextFlags_CallbackCompletion;
  if (s.refused) flags |= ImGuiInputTextFlags_AutoSelectAll;
  ImGui::PushID(static_cast<int>(s.failures_seen));  // after a failure, a new id makes ImGui select the text
  const bool typed = input_text(
      "##path", s.text, flags, "path or address: ~/clip.mp4, rtsp://camera/stream, /dev/video0, img_%04d.png",
      complete, &list);
  ctx.mark("source", "path");
  ImGui::PopID();
  if (typed) s.problem.clear(), s.camera.clear(), s.choice = -1, s.may_wait = s.refused = false;
  ImGui::SameLine(0, ctx.px(6));
  const bool pressed = ImGui::Button(label, {button, 0});
  ctx.item("source", "go", "Play it instead of the current source", "Enter");
  return entered || pressed;
}

/// Draws the line below the box: the source that is being opened, why opening failed, or a hint.
void draw_message(PanelContext& ctx, ViewerRequests& requests) {
  SourceState& s = ctx.state.source;
  const SourceProgress& p = ctx.model.progress;
  const FontScope font(ctx.look.small);
  if (!p.opening.empty()) {
    const int64_t seconds = (ctx.time_ns - p.since_ns) / 1'000'000'000;
    text_coloured(colour::accent,
                  elided("Opening " + p.opening + "…", ImGui::GetContentRegionAvail().x - ctx.px(120)) +
                      (seconds > 0 ? fmt::format(" {} s", seconds) : ""));
    ctx.mark("source", "busy");
    ImGui::SameLine(0, ctx.px(10));
    if (ImGui::SmallButton("Cancel")) requests.cancel_open = true, s.requested = false;
    ctx.mark("source", "give_up");
  } else if (!s.problem.empty()) {
    ImGui::PushTextWrapPos(0);
    text_coloured(colour::problem, s.problem);
    ctx.mark("source", "problem");
    ImGui::PopTextWrapPos();
    if (s.may_wait) {
      if (ImGui::SmallButton("Wait for it")) {
        SourceRequest again = p.failed;
        again.wait = true;
        request_source(ctx, requests, std::move(again));
      }
      ctx.item("source", "wait", "Wait until this source is available; show its state meanwhile");
    }
  } else {
    text_coloured(
        colour::faint,
        elided("Enter opens · Tab completes · ↑ ↓ choose · Esc closes · or drop a file into the window",
               ImGui::GetContentRegionAvail().x));
  }
}

/// Closes the dialog when the requested source plays. Other sources, such as the next one of the playlist,
/// leave it open: what the user types would otherwise act as keys. Shows the problem when opening fails.
void follow_progress(PanelContext& ctx) {
  SourceState& s = ctx.state.source;
  const SourceProgress& p = ctx.model.progress;
  const auto is_source = [](const std::string& file) { return !file.ends_with(".toml"); };  // .toml: a preset
  s.requested = s.requested || std::ranges::any_of(ctx.input.dropped_files, is_source);
  const bool ended = std::exchange(s.opening, !p.opening.empty()) && !s.opening;
  const bool plays = std::exchange(s.pipeline, ctx.model.pipeline) != ctx.model.pipeline;
  if (plays && s.requested) ImGui::CloseCurrentPopup();
  if (ended && !plays) s.requested = false;  // for example a dropped folder without videos
  if (p.failures != s.failures_seen) {
    s.failures_seen = p.failures, s.requested = false;
    s.problem = p.problem, s.may_wait = p.may_wait;
    s.focus_box = s.refused = true;
  }
}

/// Chooses the entry SourceState::select as soon as its folder is listed.
void select_asked(SourceState& s, SourceList& list) {
  if (s.select.empty() || !list.there) return;
  const auto found =
      std::ranges::find_if(list.lines, [&](const FolderEntry* entry) { return entry->name == s.select; });
  if (found != list.lines.end()) list.chosen = s.choice = static_cast<int>(found - list.lines.begin());
  s.scroll_to_choice = found != list.lines.end();
  s.chosen = std::exchange(s.select, {});
}

void draw_body(PanelContext& ctx, ViewerRequests& requests) {
  SourceState& s = ctx.state.source;
  SourceList list = source_list(ctx);
  select_asked(s, list);
  for (const KeyPress& press : ctx.input.presses) move_choice(s, list, press.key);
  if (draw_box(ctx, list)) {
    list = source_list(ctx);  // with the text typed in this frame
    open_choice(ctx, requests, list);
  }
  draw_message(ctx, requests);
  ImGui::Dummy({0, ctx.px(1)});
  const float room = ImGui::GetContentRegionAvail().x;
  ImGui::BeginChild("##places", {std::min(ctx.px(kPlaces), room * 0.42f), 0});
  draw_source_places(ctx, requests);
  ImGui::EndChild();
  ImGui::SameLine(0, ctx.px(14));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddLine(
      {at.x - ctx.px(7), at.y}, {at.x - ctx.px(7), at.y + ImGui::GetContentRegionAvail().y}, colour::line);
  ImGui::BeginChild("##choices", {0, 0});
  s.camera.empty() ? draw_source_files(ctx, requests) : draw_source_camera(ctx, requests);
  ImGui::EndChild();
}

}  // namespace

void request_source(PanelContext& ctx, ViewerRequests& requests, SourceRequest source) {
  SourceState& s = ctx.state.source;
  if (source.text.empty()) return;
  s.problem.clear(), s.may_wait = false, s.requested = true;
  requests.open = std::move(source);
}

void draw_source_dialog(PanelContext& ctx, ViewerRequests& requests) {
  SourceState& s = ctx.state.source;
  if (s.ask) {
    begin(ctx);
    ImGui::OpenPopup("##source");
  }
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float margin = ctx.px(12);
  const ImVec2 size{std::min(ctx.px(kWidth), std::max(display.x - 2 * margin, 1.f)),
                    std::min(ctx.px(kHeight), std::max(display.y - 2 * margin, 1.f))};
  // Place the dialog below the button that opens it, if there is room.
  ImGui::SetNextWindowPos({margin, std::max(std::min(ctx.px(58), display.y - size.y - margin), 0.f)});
  ImGui::SetNextWindowSize(size);
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {ctx.px(14), ctx.px(12)});
  s.open = ImGui::BeginPopup("##source", ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  if (s.open) {
    follow_progress(ctx);
    draw_body(ctx, requests);
    if (ctx.pressed(Key::escape)) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
  } else {
    s.listed.clear(), s.select.clear();
  }
}

}  // namespace lensd::ui
