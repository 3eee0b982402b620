// Shows the state of a live source as text and as a coloured dot, for panels and the statistics overlay.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/clock.hpp"
#include "ui/widgets/widgets.hpp"

namespace lensd::ui {

std::string brief_time(int64_t ns) {
  const int64_t s = std::max<int64_t>(ns, 0) / 1'000'000'000, m = s / 60;
  return m < 60 ? fmt::format("{}:{:02}", m, s % 60) : fmt::format("{}:{:02}:{:02}", m / 60, m % 60, s % 60);
}

void state_dot(const Look& look, LiveState state) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float radius = look.px(3.5f);
  ImGui::GetWindowDrawList()->AddCircleFilled(
      {at.x + radius, at.y + ImGui::GetFontSize() * 0.5f + look.px(0.5f)}, radius, state_colour(state), 20);
  ImGui::SetCursorScreenPos({at.x + 2 * radius + look.px(6), at.y});
}

namespace {

/// Returns " · 23 ms behind", or the reason if there is one, such as " · no signal". Returns an empty string
/// if the source is not playing or its latency is not known.
std::string behind(const LiveStatus& live) {
  if (live.state != LiveState::playing) return "";
  if (!live.reason.empty()) return " · " + live.reason;
  return live.latency_ns >= 0 ? fmt::format(" · {:.0f} ms behind", to_ms(live.latency_ns)) : "";
}

std::string state_since(const LiveStatus& live, int64_t time_ns) {
  return fmt::format("{} for {}", name(live.state), brief_time(time_ns - live.since_ns));
}

}  // namespace

std::string live_text(const LiveStatus& live, int64_t time_ns) {
  std::string text = state_since(live, time_ns) + behind(live);
  if (live.reconnects > 0) text += " · " + count_text(live.reconnects, "reconnect");
  if (live.stalls > 0) text += " · " + count_text(live.stalls, "stall");
  return text;
}

std::string live_text_brief(const LiveStatus& live, int64_t time_ns) {
  return live.state == LiveState::playing ? name(live.state) + behind(live) : state_since(live, time_ns);
}

}  // namespace lensd::ui
