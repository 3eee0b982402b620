// Draws the right half of the source dialog: the files of a folder, or the formats of a camera.
#include <algorithm>
#include <utility>

#include "core/base/text/source_text.hpp"
#include "ui/panel.hpp"
#include "ui/panels/source/source_list.hpp"

namespace lensd::ui {
namespace {

constexpr float kLine = 23, kSize = 104, kRate = 44;  // logical pixels

std::string size_text(int64_t bytes) {
  const double kb = static_cast<double>(bytes) / 1000;
  if (kb < 1000) return fmt::format("{:.0f} kB", std::max(kb, 1.0));
  if (kb < 1e6) return fmt::format("{:.1f} MB", kb / 1000);
  return fmt::format("{:.1f} GB", kb / 1e6);
}

std::string note_of(const FolderEntry& entry) {
  switch (entry.kind) {
    case FolderEntry::Kind::folder:
      return "folder";
    case FolderEntry::Kind::sequence:
      return fmt::format("{} images", entry.images);
    default:
      return size_text(entry.bytes);
  }
}

bool draw_entry(PanelContext& ctx, const FolderEntry& entry, bool chosen, bool follow) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, ctx.px(kLine)};
  const bool clicked = ImGui::InvisibleButton(entry.name.c_str(), size);
  const bool folder = entry.kind == FolderEntry::Kind::folder;
  ctx.mark("source", folder ? "folder" : "file", entry.name);
  if (chosen && follow) ImGui::SetScrollHereY();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 end{at.x + size.x, at.y + size.y};
  if (chosen || ImGui::IsItemHovered())
    list.AddRectFilled(at, end, chosen ? colour::gray(62) : colour::gray(50), ctx.px(3));
  if (chosen) list.AddRectFilled(at, {at.x + ctx.px(2), end.y}, colour::accent);
  const float y = at.y + (size.y - ImGui::GetFontSize()) * 0.5f;
  ImGui::PushFont(ctx.look.small);
  const std::string note = note_of(entry);
  const float note_width = ImGui::CalcTextSize(note.c_str()).x;
  list.AddText({end.x - note_width - ctx.px(8), at.y + (size.y - ImGui::GetFontSize()) * 0.5f}, colour::faint,
               note.c_str());
  ImGui::PopFont();
  const ImU32 ink = entry.kind == FolderEntry::Kind::other ? colour::dim : colour::text;
  const std::string name = elided(folder ? entry.name + "/" : entry.name, size.x - note_width - ctx.px(34));
  list.AddText({at.x + ctx.px(10), y}, ink, name.c_str());
  return clicked;
}

void draw_folder_name(PanelContext& ctx, const SourceList& list) {
  // The listed path has no "..", whose parent would not be the text before it.
  std::string folder = list.there ? list.choices->files.folder : list.folder;
  if (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  const size_t slash = folder.rfind('/');
  if (small_button(ctx.look, "##up", Icon::chevron_up, 22, colour::gray(190)) && slash != std::string::npos &&
      folder.size() > 1)
    enter_folder(ctx.state.source, slash == 0 ? "/" : folder.substr(0, slash));
  ctx.item("source", "up", "Parent folder");
  ImGui::SameLine(0, ctx.px(4));
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ctx.px(3));
  ImGui::PushFont(ctx.look.small);
  text_coloured(colour::dim, elided_front(shown_path(folder), ImGui::GetContentRegionAvail().x));
  ImGui::PopFont();
  ctx.mark("source", "in");
}

std::string empty_reason(const PanelContext& ctx, const SourceList& list) {
  const auto typed = typed_path(ctx.state.source.text);
  if (!typed) return "Enter opens this address.";
  if (!list.there) return "";
  if (list.searching) return "Searching…";
  if (!list.choices->files.problem.empty()) return "Cannot read this folder: " + list.choices->files.problem;
  return typed->part.empty() ? "No videos or images in this folder." : "No name in this folder matches.";
}

std::string rates_text(const std::vector<double>& rates) {
  std::string text;
  for (const double rate : rates) text += fmt::format("{}{:.4g}", text.empty() ? "" : " ", rate);
  return text;
}

/// Draws a camera mode: its size, and a button for each of its frame rates.
void draw_mode(PanelContext& ctx, ViewerRequests& requests, const Camera& camera, const CameraFormat& format,
               const CameraMode& mode) {
  const std::string size = fmt::format("{}×{}", mode.size.width, mode.size.height);
  const auto open = [&](double rate) {
    request_source(ctx, requests,
                   {.text = "v4l2:" + (camera.by_id.empty() ? camera.path : camera.by_id),
                    .format = format.format,
                    .size = mode.size,
                    .rate = rate,
                    .wait = false});
  };
  ImGui::PushID(size.c_str());
  ImGui::Indent(ctx.px(10));
  const float end = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  if (ImGui::Button(size.c_str(), {ctx.px(kSize), 0})) open(mode.rates.empty() ? 0 : mode.rates.front());
  ctx.mark("source", "mode", fmt::format("{}/{}x{}", format.fourcc, mode.size.width, mode.size.height));
  tooltip(ctx.look, mode.rates.empty()
                        ? std::string("Open in this size; the camera does not report its rates")
                        : fmt::format("Open in this size at {:.4g} fps; available: {}", mode.rates.front(),
                                      rates_text(mode.rates)));
  for (const double rate : mode.rates) {
    const std::string text = fmt::format("{:.4g}", rate);
    if (ImGui::GetItemRectMax().x + ctx.px(4 + kRate) <= end)
      ImGui::SameLine(0, ctx.px(4));
    else
      ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ctx.px(kSize + 4));
    if (ImGui::Button(text.c_str(), {ctx.px(kRate), 0})) open(rate);
    ctx.mark("source", "mode",
             fmt::format("{}/{}x{}/{}", format.fourcc, mode.size.width, mode.size.height, text));
    tooltip(ctx.look, fmt::format("{} at {} fps", size, text));
  }
  if (!mode.rates.empty() && ImGui::GetItemRectMax().x + ctx.px(30) <= end) {
    ImGui::SameLine(0, ctx.px(6));
    text_coloured(colour::faint, "fps");
  }
  ImGui::Unindent(ctx.px(10));
  ImGui::PopID();
}

}  // namespace

void draw_source_files(PanelContext& ctx, ViewerRequests& requests) {
  const SourceList list = source_list(ctx);
  if (typed_path(ctx.state.source.text)) draw_folder_name(ctx, list);
  ImGui::BeginChild("##list", {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  const bool asked = std::exchange(ctx.state.source.scroll_to_choice, false);
  const bool follow = asked || ctx.pressed(Key::down) || ctx.pressed(Key::up);
  const int count = static_cast<int>(list.lines.size());
  const FolderEntry* clicked = nullptr;
  // Draw only visible lines, and the chosen line, because the list may scroll to it.
  const float height = ctx.px(kLine), top = ImGui::GetScrollY();
  const int first = std::max(0, static_cast<int>(top / height) - 1);
  const int last = std::min(count, static_cast<int>((top + ImGui::GetWindowHeight()) / height) + 2);
  for (int i = 0; i < count; ++i) {
    if ((i < first || i >= last) && i != list.chosen) continue;
    ImGui::SetCursorPosY(static_cast<float>(i) * height);
    const FolderEntry& entry = *list.lines[static_cast<size_t>(i)];
    if (draw_entry(ctx, entry, i == list.chosen, follow)) clicked = &entry;
  }
  ImGui::SetCursorPosY(static_cast<float>(count) * height);
  ImGui::PopStyleVar();
  ImGui::PushFont(ctx.look.small);
  ImGui::PushTextWrapPos(0);
  if (count == 0)
    text_coloured(colour::dim, empty_reason(ctx, list));
  else if (list.searching || list.choices->files.cut)
    text_coloured(colour::faint, list.searching ? "Searching…"
                                 : list.choices->files.part.empty()
                                     ? "The list is not complete. Type a part of the name."
                                     : "More names match. Type more of the name.");
  else
    ImGui::Dummy({1, 1});
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::EndChild();
  if (clicked) take_entry(ctx, requests, list, *clicked);
}

void draw_source_camera(PanelContext& ctx, ViewerRequests& requests) {
  SourceState& s = ctx.state.source;
  const auto choices = ctx.model.choices;
  const Camera* camera = nullptr;
  if (choices)
    for (const Camera& one : choices->cameras)
      if (one.path == s.camera) camera = &one;
  if (!camera) return s.camera.clear();  // the camera was disconnected
  heading(ctx.look, elided_heading(ctx.look, camera->name, ImGui::GetContentRegionAvail().x).c_str());
  const std::string& path = camera->by_id.empty() ? camera->path : camera->by_id;
  ImGui::PushFont(ctx.look.small);
  text_coloured(colour::dim, elided_front(path, ImGui::GetContentRegionAvail().x));
  tooltip(ctx.look, path + (camera->by_id.empty()
                                ? ""
                                : "\nthis path stays the same if devices are connected in another order"));
  ImGui::PopFont();
  ImGui::Dummy({0, ctx.px(2)});
  if (ImGui::Button("Open with the camera's defaults", {ctx.px(220), 0}))
    request_source(ctx, requests, source_request("v4l2:" + path));
  ctx.item("source", "camera_open", "With the camera's own size and rate");
  ImGui::PushFont(ctx.look.small);
  for (const CameraFormat& format : camera->formats) {
    ImGui::PushID(format.fourcc.c_str());
    ImGui::Dummy({0, ctx.px(4)});
    text_coloured(colour::text, format.fourcc);
    ImGui::SameLine(0, ctx.px(8));
    text_coloured(colour::dim, format.description);
    if (format.format.empty()) {
      text_coloured(colour::faint, "FFmpeg does not support this format");
    } else if (format.modes.empty()) {
      text_coloured(colour::faint, "The camera does not report its sizes");
    } else {
      for (const CameraMode& mode : format.modes) draw_mode(ctx, requests, *camera, format, mode);
    }
    ImGui::PopID();
  }
  if (camera->formats.empty()) text_coloured(colour::dim, "The camera does not report its formats.");
  ImGui::PopFont();
}

}  // namespace lensd::ui
