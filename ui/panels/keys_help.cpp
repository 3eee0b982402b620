// The keys of `?`, in groups: one column in tall windows, more where there is no height for one.
#include <algorithm>
#include <cmath>

#include "ui/keys.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

constexpr float kMostHeight = 620, kRowGap = 6;  // logical pixels

/// Lines with the headings of their groups.
int rows_of(std::span<const KeyHelp> lines) {
  return static_cast<int>(lines.size()) +
         static_cast<int>(
             std::count_if(lines.begin(), lines.end(), [](const KeyHelp& l) { return l.group; }));
}

/// The lines by columns of about the same height; a group is not split where it need not be.
std::vector<std::span<const KeyHelp>> columns_of(std::span<const KeyHelp> lines, int count) {
  std::vector<std::span<const KeyHelp>> columns;
  const int rows = (rows_of(lines) + count - 1) / count;
  size_t begin = 0;
  int filled = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    size_t end = i + 1;
    while (end < lines.size() && !lines[end].group) ++end;
    const int group = rows_of(lines.subspan(i, end - i));
    // A group goes where more of it fits.
    if (lines[i].group && i > begin && filled + group / 2 > rows &&
        static_cast<int>(columns.size()) + 1 < count) {
      columns.push_back(lines.subspan(begin, i - begin));
      begin = i, filled = 0;
    }
    filled += lines[i].group ? 2 : 1;
  }
  columns.push_back(lines.subspan(begin));
  return columns;
}

void draw_column(PanelContext& ctx, std::span<const KeyHelp> lines, int number) {
  if (!ImGui::BeginTable(
          fmt::format("keys{}", number).c_str(), 2,
          ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoPadOuterX | ImGuiTableFlags_NoHostExtendX))
    return;
  for (const KeyHelp& line : lines) {
    if (line.group) {
      ImGui::TableNextRow(0, &line == lines.data() ? 0 : ImGui::GetTextLineHeight() + ctx.px(14));
      ImGui::TableNextColumn();
      if (&line != lines.data()) ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ctx.px(9));
      text_coloured(colour::dim, line.group);
    }
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text_coloured(colour::accent, line.keys);
    ctx.mark("keys", line.keys);
    ImGui::TableNextColumn();
    text_coloured(colour::text, line.what);
  }
  ImGui::EndTable();
}

}  // namespace

void draw_keys_help(PanelContext& ctx) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float row = ctx.look.small->FontSize * ImGui::GetIO().FontGlobalScale + ctx.px(kRowGap);
  const float height = std::min(display.y - ctx.px(100), ctx.px(kMostHeight));
  // As many columns as the height asks for, and no more than the width has room for.
  const int wanted = static_cast<int>(std::ceil(static_cast<float>(rows_of(key_help()) + 2) * row / height));
  const int room = static_cast<int>((display.x - ctx.px(72)) / ctx.px(330));
  const int count = std::clamp(wanted, 1, std::clamp(room, 1, 3));
  ImGui::SetNextWindowPos({display.x * 0.5f, display.y * 0.5f}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::SetNextWindowSizeConstraints({0, 0}, {display.x - ctx.px(24), display.y - ctx.px(24)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ctx.px(6));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ctx.px(24), ctx.px(18)});
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ctx.px(8), ctx.px(kRowGap / 2)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::gray(32));
  ImGui::Begin("##keys", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_AlwaysAutoResize |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove);
  heading(ctx.look, "Keys");
  ImGui::PushFont(ctx.look.small);
  ImGui::Dummy({0, ctx.px(2)});
  const auto columns = columns_of(key_help(), count);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) ImGui::SameLine(0, ctx.px(36));
    ImGui::BeginGroup();
    draw_column(ctx, columns[i], static_cast<int>(i));
    ImGui::EndGroup();
  }
  ImGui::PopFont();
  // A control that is clicked acts itself, that of this list among them.
  const bool outside = ImGui::IsMouseClicked(0) && !ImGui::IsAnyItemHovered() &&
                       !ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows);
  if (ctx.rects) {
    const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    (*ctx.rects)["keys"] = {at.x, at.y, size.x, size.y};
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(4);
  if (outside) ctx.state.help = false;
}

}  // namespace lensd::ui
