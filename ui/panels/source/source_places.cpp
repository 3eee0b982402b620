// Draws the left half of the source dialog: recent sources, folders, cameras, the screen, test pictures.
#include <array>

#include "core/base/text/source_text.hpp"
#include "ui/panel.hpp"
#include "ui/panels/source/source_list.hpp"
#include "ui/widgets/text_row.hpp"

namespace lensd::ui {
namespace {

constexpr size_t kFewRecent = 6;

struct TestPicture {
  const char *name, *url, *doc;
};
constexpr std::array<TestPicture, 4> kTestPictures{{
    {"Fractal", "test:demo", "A zoom into the Mandelbrot set: fine moving texture"},
    {"Test card", "test:testsrc2=size=1280x720:rate=30", "Moving shapes, bars and a clock"},
    {"Colour bars", "test:smptehdbars=size=1920x1080:rate=30", "SMPTE's bars"},
    {"Primaries", "test:rgbtestsrc=size=1280x720:rate=30", "Red, green and blue ramps"},
}};

void section(PanelContext& ctx, const char* text) {
  if (ImGui::GetCursorPosY() > ctx.px(4)) ImGui::Dummy({0, ctx.px(4)});
  small_text(ctx.look, colour::dim, text);
}

void note(PanelContext& ctx, const std::string& text) {
  const FontScope font(ctx.look.small);
  wrapped_text(colour::faint, text);
}

/// Draws a line. Returns true if it was clicked. `reserved`: width to keep free at its end, in ImGui units.
bool line(const std::string& text, ImU32 ink, bool chosen = false, float reserved = 0) {
  return text_row(text, chosen, ImGui::GetContentRegionAvail().x - reserved, ink);
}

void draw_recent(PanelContext& ctx, ViewerRequests& requests, const RecentSource& source) {
  const std::string name = brief_source(source.url);
  const bool sound = source.problem.empty();
  ImGui::PushID(source.url.c_str());
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x, cross = ctx.px(20);
  // A source with a problem can still be opened, because it may be available again.
  if (line(name, sound ? colour::text : colour::faint, false, cross))
    request_source(ctx, requests, source_request(source.url));
  ctx.mark("source", "recent", name);
  tooltip(ctx.look, shown_path(source.url), source.problem);
  const ImVec2 mouse = ImGui::GetIO().MousePos, end = ImGui::GetItemRectMax();
  const bool over = mouse.x >= at.x && mouse.x < at.x + room && mouse.y >= at.y && mouse.y < end.y;
  ImGui::SameLine(room - ctx.px(18));
  if (small_button(ctx.look, "##forget", Icon::cross, 17, over ? colour::dim : colour::gray(0, 0)))
    requests.remove_recent = source.url;
  ctx.mark("source", "forget", name);
  tooltip(ctx.look, "Remove from this list");
  ImGui::PopID();
}

void draw_recents(PanelContext& ctx, ViewerRequests& requests, const SourceChoices& choices) {
  section(ctx, "Recent");
  if (choices.recent.empty()) note(ctx, "Sources that you open are listed here.");
  SourceState& s = ctx.state.source;
  const size_t count = choices.recent.size();
  // Show one extra entry instead of a "1 more" row.
  const size_t shown = s.all_recent || count <= kFewRecent + 1 ? count : kFewRecent;
  for (size_t i = 0; i < shown; ++i) draw_recent(ctx, requests, choices.recent[i]);
  if (shown == count) return;
  if (line(fmt::format("{} more…", count - shown), colour::dim)) s.all_recent = true;
  ctx.mark("source", "more_recent");
}

void draw_cameras(PanelContext& ctx, ViewerRequests& requests, const SourceChoices& choices) {
  section(ctx, "Cameras");
  SourceState& s = ctx.state.source;
  for (const Camera& camera : choices.cameras) {
    ImGui::PushID(camera.path.c_str());
    if (line(camera.name.empty() ? camera.path : camera.name, colour::text, s.camera == camera.path))
      s.camera = camera.path;
    ctx.mark("source", "camera", brief_source(camera.path));
    tooltip(ctx.look, camera.path + "\nShow its formats, sizes and rates");
    ImGui::PopID();
  }
  for (const PipewireNode& node : choices.pipewire) {
    const std::string url = "pipewire:" + (node.name.empty() ? node.serial : node.name);
    ImGui::PushID(url.c_str());
    if (line(node.description, colour::text)) request_source(ctx, requests, source_request(url));
    ctx.mark("source", "pipewire", node.name);
    tooltip(ctx.look, node.camera ? "A camera of the PipeWire session" : "Another program's stream", url);
    ImGui::PopID();
  }
  if (!choices.cameras.empty() || !choices.pipewire.empty()) return;
  note(ctx, !choices.cameras_known            ? "…"
            : choices.cameras_problem.empty() ? "No camera is connected."
                                              : choices.cameras_problem);
  ctx.mark("source", "no_camera");
}

}  // namespace

void draw_source_places(PanelContext& ctx, ViewerRequests& requests) {
  const auto choices = ctx.model.choices;
  if (!choices) return;
  const VarScope item_spacing(ImGuiStyleVar_ItemSpacing, {ctx.px(8), ctx.px(4)});
  draw_recents(ctx, requests, *choices);
  if (!choices->places.empty()) section(ctx, "Folders");
  for (const auto& [name, path] : choices->places) {
    if (line(name, colour::text)) enter_folder(ctx.state.source, path);
    ctx.mark("source", "place", name);
    tooltip(ctx.look, path);
  }
  draw_cameras(ctx, requests, *choices);
  section(ctx, "Screen and test pictures");
  const bool screen = choices->screen_problem.empty();
  if (line("Screen", screen ? colour::text : colour::faint) && screen)
    request_source(ctx, requests, source_request("screen:"));
  ctx.item("source", "screen", screen ? "The whole X11 screen, 30 times a second" : choices->screen_problem);
  if (choices->portal) {
    if (line("Screen or window…", colour::text)) request_source(ctx, requests, source_request("portal:"));
    ctx.item("source", "portal", "The desktop asks which screen or window to share\nportal:");
  }
  for (const TestPicture& picture : kTestPictures) {
    if (line(picture.name, colour::text)) request_source(ctx, requests, source_request(picture.url));
    ctx.mark("source", "test", picture.name);
    tooltip(ctx.look, picture.doc, picture.url);
  }
}

}  // namespace lensd::ui
