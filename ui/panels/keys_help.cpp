// Draws the key help in groups. In large windows: centred, with as many columns as the height requires and
// the width allows, at most three. In small windows: one column on the right that scrolls, so that the
// picture stays visible.
#include <algorithm>
#include <cmath>

#include "ui/keys.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

constexpr float kMaxHeight = 620, kRowGap = 6;                          // logical pixels
constexpr float kColumn = 330, kSmallWidth = 1000, kSmallHeight = 600;  // logical pixels

int rows_of(std::span<const KeyHelp> lines) {
  return static_cast<int>(lines.size()) + static_cast<int>(std::ranges::count_if(lines, &KeyHelp::group));
}

/// Splits the lines into columns of about the same height, without splitting groups.
std::vector<std::span<const KeyHelp>> columns_of(std::span<const KeyHelp> lines, int count) {
  std::vector<std::span<const KeyHelp>> columns;
  const int rows = (rows_of(lines) + count - 1) / count;
  size_t begin = 0;
  int filled = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    size_t end = i + 1;
    while (end < lines.size() && !lines[end].group) ++end;
    const int group = rows_of(lines.subspan(i, end - i));
    // Begin a new column if less than half of the group fits into the current one.
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

void draw_column(PanelContext& ctx, std::span<const KeyHelp> lines, int number, bool wraps) {
  ImGuiTableFlags flags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoPadOuterX;
  if (!wraps) flags |= ImGuiTableFlags_NoHostExtendX;
  if (!ImGui::BeginTable(fmt::format("keys{}", number).c_str(), 2, flags)) return;
  if (wraps) {
    ImGui::TableSetupColumn("keys", ImGuiTableColumnFlags_WidthFixed);
    ImGui::TableSetupColumn("what", ImGuiTableColumnFlags_WidthStretch);
  }
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
    wraps ? wrapped_text(colour::text, line.what) : text_coloured(colour::text, line.what);
  }
  ImGui::EndTable();
}

/// Places the help in a small window: a column on the right, above the transport bar.
void place_on_the_right(PanelContext& ctx, ImVec2 display) {
  const float margin = ctx.px(12);
  const float width = std::min(ctx.px(kColumn), display.x - 2 * margin);
  const float height = std::max(display.y - ctx.px(46) - 2 * margin, ctx.px(40));
  ImGui::SetNextWindowPos({display.x - width - margin, margin});
  ImGui::SetNextWindowSize({std::max(width, 1.f), height});
}

}  // namespace

void draw_keys_help(PanelContext& ctx) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float row = ctx.look.small->FontSize * ImGui::GetIO().FontGlobalScale + ctx.px(kRowGap);
  const float height = std::min(display.y - ctx.px(100), ctx.px(kMaxHeight));
  const bool small = display.x < ctx.px(kSmallWidth) || display.y < ctx.px(kSmallHeight);
  const int wanted = static_cast<int>(std::ceil(static_cast<float>(rows_of(key_help()) + 2) * row / height));
  const int room = static_cast<int>((display.x - ctx.px(72)) / ctx.px(kColumn));
  const int count = small ? 1 : std::clamp(wanted, 1, std::clamp(room, 1, 3));
  if (small) {
    place_on_the_right(ctx, display);
  } else {
    ImGui::SetNextWindowPos({display.x * 0.5f, display.y * 0.5f}, ImGuiCond_Always, {0.5f, 0.5f});
    ImGui::SetNextWindowSizeConstraints({0, 0}, {display.x - ctx.px(24), display.y - ctx.px(24)});
  }
  const ImVec2 padding = small ? ImVec2{ctx.px(14), ctx.px(10)} : ImVec2{ctx.px(24), ctx.px(18)};
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ctx.px(6));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ctx.px(8), ctx.px(kRowGap / 2)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::gray(32));
  ImGui::Begin(small ? "##keys_small" : "##keys", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoMove | (small ? 0 : ImGuiWindowFlags_AlwaysAutoResize));
  heading(ctx.look, "Keys");
  ImGui::PushFont(ctx.look.small);
  ImGui::Dummy({0, ctx.px(2)});
  const auto columns = columns_of(key_help(), count);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) ImGui::SameLine(0, ctx.px(36));
    ImGui::BeginGroup();
    draw_column(ctx, columns[i], static_cast<int>(i), small);
    ImGui::EndGroup();
  }
  ImGui::PopFont();
  // Clicks on controls do not close the help here, because one of them is the help's own button.
  const bool outside = ImGui::IsMouseClicked(0) && !ImGui::IsAnyItemHovered() &&
                       !ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows);
  if (ctx.rects) {
    const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    (*ctx.rects)["keys"] = {at.x, at.y, size.x, size.y};
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(4);
  // In a small window the help is a column beside the controls, which stay usable: clicks there do not close
  // it.
  if (outside && !small) ctx.state.help = false;
}

}  // namespace lensd::ui
