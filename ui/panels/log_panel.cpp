// Draws the log with a filter by level and a copy button.
#include <algorithm>
#include <array>

#include "core/base/text/text.hpp"
#include "ui/keys.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

constexpr int64_t kCopiedShown = 2'000'000'000;
constexpr size_t kLineLength = 2000;  ///< shown bytes of a line; the copy button copies whole lines

struct Level {
  const char* name;
  const char* label;
  const char* doc;
};
constexpr std::array<Level, 3> kLevels{{{"info", "All", "Every message"},
                                        {"warning", "Warnings", "Warnings and errors"},
                                        {"error", "Errors", "Errors only"}}};

void choose_level(PanelContext& ctx) {
  LogState& s = ctx.state.log;
  for (size_t i = 0; i < kLevels.size(); ++i) {
    const bool on = s.level == static_cast<int>(i);
    ImGui::PushStyleColor(ImGuiCol_Button, on ? colour::gray(70) : colour::field);
    ImGui::PushStyleColor(ImGuiCol_Text, on ? colour::accent : colour::dim);
    if (ImGui::SmallButton(kLevels[i].label)) s.level = static_cast<int>(i);
    ImGui::PopStyleColor(2);
    ctx.item("log", kLevels[i].name, kLevels[i].doc);
    ImGui::SameLine(0, ctx.px(3));
  }
}

ImU32 ink(int level) {
  return level >= 2 ? colour::problem : level == 1 ? colour::accent : colour::text;
}

}  // namespace

int log_level(std::string_view line) {
  // Lines look like "12:30:01 warning: text". All other lines are messages.
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return 0;
  const std::string_view rest = line.substr(space + 1);
  if (rest.starts_with("error") || rest.starts_with("critical")) return 2;
  return rest.starts_with("warn") ? 1 : 0;
}

std::vector<std::string> filtered_log(const std::vector<std::string>& lines, int level) {
  std::vector<std::string> kept;
  std::ranges::copy_if(lines, std::back_inserter(kept),
                       [&](const std::string& line) { return log_level(line) >= level; });
  return kept;
}

void draw_log_panel(PanelContext& ctx, const Rect& area) {
  LogState& s = ctx.state.log;
  if (!s.open) return;
  const float margin = ctx.px(12);
  const float height = std::min(ctx.px(240), area.h * 0.5f);
  ImGui::SetNextWindowPos({area.x + margin, area.y + area.h - height - margin});
  ImGui::SetNextWindowSize({std::max(area.w - 2 * margin, ctx.px(160)), height});
  const VarScope window_rounding(ImGuiStyleVar_WindowRounding, ctx.px(6));
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {ctx.px(12), ctx.px(10)});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::gray(26, 245));
  ImGui::Begin("##log", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav);
  heading(ctx.look, "Log");
  ImGui::SameLine(0, ctx.px(14));
  ImGui::PushFont(ctx.look.small);
  choose_level(ctx);
  const std::vector<std::string> lines = filtered_log(ctx.model.log, s.level);
  const bool copied = s.copied_at_ns > 0 && ctx.time_ns - s.copied_at_ns < kCopiedShown;
  // Place the buttons at the right end. A narrow log has no copy button.
  const float close = ctx.px(46), copy = ctx.px(58), x = ImGui::GetCursorPosX();
  const float end = x + ImGui::GetContentRegionAvail().x;
  if (end - x > close + copy) {
    ImGui::SameLine();
    ImGui::SetCursorPosX(end - close - copy);
    if (ImGui::SmallButton(copied ? "Copied###copy" : "Copy###copy")) {
      std::string text;
      for (const std::string& line : lines) text += line + "\n";
      ImGui::SetClipboardText(text.c_str());
      s.copied_at_ns = ctx.time_ns;
    }
    ctx.item("log", "copy", "Copy the shown lines to the clipboard");
  }
  ImGui::SameLine();
  ImGui::SetCursorPosX(std::max(x, end - close));
  if (ImGui::SmallButton("Close")) s.open = false;
  ctx.item("log", "close", "Close the log", key_hint(Action::log));
  ImGui::Dummy({0, ctx.px(2)});

  ImGui::BeginChild("##lines", {0, 0});
  ImGui::PushTextWrapPos(0);
  if (lines.empty()) text_coloured(colour::dim, "No messages of this level so far.");
  for (const std::string& line : lines) text_coloured(ink(log_level(line)), shortened(line, kLineLength));
  ImGui::PopTextWrapPos();
  // Follow the newest line until the user scrolls up.
  if (ImGui::GetScrollY() >= ImGui::GetScrollMaxY() - 1) ImGui::SetScrollHereY(1);
  ImGui::EndChild();
  ctx.mark("log", "lines");
  ImGui::PopFont();
  ImGui::End();
  ImGui::PopStyleColor();
}

}  // namespace lensd::ui
