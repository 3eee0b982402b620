// Draws the list of sources that are played one after another, below the source's name.
#include <algorithm>
#include <utility>

#include "core/base/text/source_text.hpp"
#include "ui/keys.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

constexpr float kRow = 21;
constexpr size_t kRows = 6, kFewRows = 2;  ///< rows without scrolling: maximum, and in a small window
constexpr float kListShare = 0.3f;         ///< maximum share of the side's height, if more than kFewRows fit

void draw_row(PanelContext& ctx, ViewerRequests& requests, size_t index, const std::string& source) {
  const bool current = index == ctx.model.playlist_at;
  const ImVec2 at = ImGui::GetCursorScreenPos(), size{ImGui::GetContentRegionAvail().x, ctx.px(kRow)};
  ImGui::PushID(static_cast<int>(index));
  if (ImGui::InvisibleButton("##source", size)) requests.play_index = index;
  ImGui::PopID();
  const std::string name = brief_source(source);
  ctx.mark("playlist", std::to_string(index + 1));
  if (tooltip_due()) tooltip(ctx.look, shown_path(source));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (current || ImGui::IsItemHovered())
    list.AddRectFilled(at, {at.x + size.x, at.y + size.y}, colour::gray(current ? 47 : 42), ctx.px(3));
  if (current) list.AddRectFilled(at, {at.x + ctx.px(2), at.y + size.y}, colour::accent);
  list.AddText({at.x + ctx.px(8), at.y + (size.y - ImGui::GetFontSize()) * 0.5f},
               current ? colour::text : colour::dim, elided(name, size.x - ctx.px(14)).c_str());
}

}  // namespace

void draw_playlist(PanelContext& ctx, ViewerRequests& requests) {
  const auto sources = ctx.model.playlist;
  if (!sources || sources->size() < 2) return;
  PlaylistState& p = ctx.state.playlist;
  ImGui::Dummy({0, ctx.px(6)});
  const float left = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x;
  ImGui::AlignTextToFramePadding();
  heading(ctx.look, "Playlist");
  ImGui::SameLine(0, ctx.px(8));
  small_text(ctx.look, colour::dim, fmt::format("{} of {}", ctx.model.playlist_at + 1, sources->size()));
  ctx.mark("playlist", "count");
  const float y = ImGui::GetCursorPosY() - ImGui::GetFrameHeight() - ImGui::GetStyle().ItemSpacing.y;
  ImGui::SetCursorPos({left + room - ctx.px(66), y});
  if (small_button(ctx.look, "##previous", Icon::step_back, 20, colour::dim)) requests.play_step = -1;
  ctx.item("playlist", "previous", "Previous source", key_hint(Action::previous_source));
  ImGui::SameLine(0, ctx.px(2));
  if (small_button(ctx.look, "##next", Icon::step_forward, 20, colour::dim)) requests.play_step = 1;
  ctx.item("playlist", "next", "Next source", key_hint(Action::next_source));
  ImGui::SameLine(0, ctx.px(2));
  if (small_button(ctx.look, "##fold_list", p.folded ? Icon::chevron_right : Icon::chevron_down, 20,
                   colour::dim))
    p.folded = !p.folded;
  ctx.item("playlist", "fold", p.folded ? "Show the list" : "Fold the list");
  if (p.folded) return;
  const auto fitting = static_cast<size_t>(ImGui::GetWindowHeight() * kListShare / ctx.px(kRow));
  const size_t rows = std::min(sources->size(), std::clamp(fitting, kFewRows, kRows));
  const VarScope item_spacing(ImGuiStyleVar_ItemSpacing, {0, 0});
  const FontScope font(ctx.look.small);
  ImGui::BeginChild("##playlist", {0, ctx.px(kRow) * static_cast<float>(rows)});
  // Draw only visible rows, and the current one if the list scrolls to it: a playlist may be a large folder.
  const float height = ctx.px(kRow);
  const auto top = static_cast<size_t>(ImGui::GetScrollY() / height);
  const size_t end = std::min(sources->size(), top + rows + 1);
  const size_t current = ctx.model.playlist_at;
  if (std::exchange(p.list, sources.get()) != sources.get()) p.scrolled_to = sources->size();
  const auto draw = [&](size_t i) {
    ImGui::SetCursorPosY(static_cast<float>(i) * height);
    draw_row(ctx, requests, i, (*sources)[i]);
    if (i == current && p.scrolled_to != i) ImGui::SetScrollHereY(0.5f), p.scrolled_to = i;
  };
  for (size_t i = top; i < end; ++i) draw(i);
  if (p.scrolled_to != current && current < sources->size()) draw(current);
  ImGui::SetCursorPosY(static_cast<float>(sources->size()) * height);
  ImGui::Dummy({1, 0});
  ImGui::EndChild();
}

}  // namespace lensd::ui
