// The left half of the source dialog: what was played before, folders, cameras, the screen, test pictures.
#include <algorithm>
#include <array>

#include "core/base/source_text.hpp"
#include "ui/model/source_list.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

constexpr size_t kFewRecent = 6;

struct TestPicture {
  const char *name, *url, *doc;
};
constexpr std::array<TestPicture, 4> kTestPictures{{
    {"Fractal", "test:demo", "A zoom into the Mandelbrot set: fine texture that moves"},
    {"Test card", "test:testsrc2=size=1280x720:rate=30", "Moving shapes, bars and a clock"},
    {"Colour bars", "test:smptehdbars=size=1920x1080:rate=30", "SMPTE's bars"},
    {"Primaries", "test:rgbtestsrc=size=1280x720:rate=30", "Red, green and blue ramps"},
}};

void section(PanelContext& ctx, const char* text) {
  if (ImGui::GetCursorPosY() > ctx.px(4)) ImGui::Dummy({0, ctx.px(4)});
  ImGui::PushFont(ctx.look.small);
  text_coloured(colour::dim, text);
  ImGui::PopFont();
}

void note(PanelContext& ctx, const std::string& text) {
  ImGui::PushFont(ctx.look.small);
  ImGui::PushTextWrapPos(0);
  text_coloured(colour::faint, text);
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
}

/// A line to click; `aside` is room that is left free at its end, in pixels.
bool line(PanelContext& ctx, const std::string& text, ImU32 ink, bool chosen = false, float aside = 0) {
  const float room = ImGui::GetContentRegionAvail().x - aside;
  ImGui::PushStyleColor(ImGuiCol_Text, ink);
  const bool clicked = ImGui::Selectable(elided(text, room - ctx.px(4)).c_str(), chosen, 0, {room, 0});
  ImGui::PopStyleColor();
  return clicked;
}

SourceRequest plain(std::string text) {
  return {.text = std::move(text), .format = {}, .size = {}, .rate = 0, .wait = false};
}

void draw_recent(PanelContext& ctx, ViewerRequests& requests, const RecentSource& source) {
  const std::string name = brief_source(source.url);
  const bool sound = source.problem.empty();
  ImGui::PushID(source.url.c_str());
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x, cross = ctx.px(20);
  // What cannot be opened may still be tried: it may be back.
  if (line(ctx, name, sound ? colour::text : colour::faint, false, cross))
    wish_source(ctx, requests, plain(source.url));
  ctx.mark("source", "recent", name);
  tooltip(ctx.look, shown_path(source.url), source.problem);
  const ImVec2 mouse = ImGui::GetIO().MousePos, end = ImGui::GetItemRectMax();
  const bool over = mouse.x >= at.x && mouse.x < at.x + room && mouse.y >= at.y && mouse.y < end.y;
  ImGui::SameLine(room - ctx.px(18));
  if (small_button(ctx.look, "##forget", Icon::cross, 17, over ? colour::dim : colour::gray(0, 0)))
    requests.forget_source = source.url;
  ctx.mark("source", "forget", name);
  tooltip(ctx.look, "Do not list it any more");
  ImGui::PopID();
}

void draw_recents(PanelContext& ctx, ViewerRequests& requests, const SourceChoices& choices) {
  section(ctx, "Recent");
  if (choices.recent.empty()) note(ctx, "What you open is listed here.");
  SourceState& s = ctx.state.source;
  const size_t count = choices.recent.size();
  // One more line rather than a line that says so.
  const size_t shown = s.all_recent || count <= kFewRecent + 1 ? count : kFewRecent;
  for (size_t i = 0; i < shown; ++i) draw_recent(ctx, requests, choices.recent[i]);
  if (shown == count) return;
  if (line(ctx, fmt::format("{} more…", count - shown), colour::dim)) s.all_recent = true;
  ctx.mark("source", "more_recent");
}

void draw_cameras(PanelContext& ctx, const SourceChoices& choices) {
  section(ctx, "Cameras");
  SourceState& s = ctx.state.source;
  for (const Camera& camera : choices.cameras) {
    ImGui::PushID(camera.path.c_str());
    if (line(ctx, camera.name.empty() ? camera.path : camera.name, colour::text, s.camera == camera.path))
      s.camera = camera.path;
    ctx.mark("source", "camera", brief_source(camera.path));
    tooltip(ctx.look, camera.path + "\nShows its formats, sizes and rates");
    ImGui::PopID();
  }
  if (!choices.cameras.empty()) return;
  note(ctx, !choices.cameras_known            ? "…"
            : choices.cameras_problem.empty() ? "No camera is plugged in."
                                              : choices.cameras_problem);
  ctx.mark("source", "no_camera");
}

}  // namespace

void draw_source_places(PanelContext& ctx, ViewerRequests& requests) {
  const auto choices = ctx.model.choices;
  if (!choices) return;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ctx.px(8), ctx.px(4)});
  draw_recents(ctx, requests, *choices);
  if (!choices->places.empty()) section(ctx, "Folders");
  for (const auto& [name, path] : choices->places) {
    if (line(ctx, name, colour::text)) enter_folder(ctx.state.source, path);
    ctx.mark("source", "place", name);
    tooltip(ctx.look, path);
  }
  draw_cameras(ctx, *choices);
  section(ctx, "Screen and test pictures");
  const bool screen = choices->screen_problem.empty();
  if (line(ctx, "Screen", screen ? colour::text : colour::faint) && screen)
    wish_source(ctx, requests, plain("screen:"));
  ctx.mark("source", "screen");
  tooltip(ctx.look, screen ? "The whole X11 screen, 30 times a second" : choices->screen_problem);
  for (const TestPicture& picture : kTestPictures) {
    if (line(ctx, picture.name, colour::text)) wish_source(ctx, requests, plain(picture.url));
    ctx.mark("source", "test", picture.name);
    tooltip(ctx.look, picture.doc, picture.url);
  }
  ImGui::PopStyleVar();
}

}  // namespace lensd::ui
