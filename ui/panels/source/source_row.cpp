// Draws the first lines of the left side: the source, its state, and the button that opens another source.
#include "ui/keys.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

void draw_opening(PanelContext& ctx, ViewerRequests& requests) {
  const SourceProgress& p = ctx.model.progress;
  const float room = ImGui::GetContentRegionAvail().x;
  const int64_t seconds = (ctx.time_ns - p.since_ns) / 1'000'000'000;
  const std::string since = seconds > 0 ? fmt::format(" {} s", seconds) : "";
  text_coloured(colour::accent, elided("opening " + p.opening, room - ctx.px(58)) + since);
  ctx.mark("source", "opening");
  ImGui::SameLine(room - ctx.px(18));
  if (small_button(ctx.look, "##give_up", Icon::cross, 18, colour::dim)) requests.cancel_open = true;
  ctx.item("source", "cancel", "Cancel; the current source keeps playing");
}

void draw_detail(PanelContext& ctx) {
  const ViewerModel& m = ctx.model;
  const float room = ImGui::GetContentRegionAvail().x;
  if (m.live_status.live) {
    const LiveStatus& live = m.live_status;
    state_dot(ctx.look, live.state);
    const std::string text = live_text(live, ctx.time_ns);
    text_coloured(live.state == LiveState::playing ? colour::dim : colour::text,
                  elided(live_text_brief(live, ctx.time_ns), room - ctx.px(14)));
    ctx.mark("source", "live");
    if (tooltip_due())
      tooltip(ctx.look,
              fmt::format("{}\n{}{}{}", text, live.stream, live.reason.empty() ? "" : "\n", live.reason));
    return;
  }
  const char* hint = "No camera: a test picture. Drop a file here.";
  text_coloured(m.demo ? colour::text : colour::dim, elided(m.demo ? hint : m.source_detail, room));
  ctx.item("source", "detail", m.source_detail);
}

constexpr const char* kDeinterlace = "deinterlace";

/// Enables the graph's deinterlace node. If there is none, adds one as the first node.
void add_deinterlace(PanelContext& ctx) {
  for (const NodeDesc& node : ctx.editor().graph().nodes)
    if (node.filter == kDeinterlace) return ctx.editor().set_enabled(node.id, true);
  ctx.state.graph.folded.erase(ctx.editor().add(kDeinterlace, kSourceNode));
}

}  // namespace

void draw_source_row(PanelContext& ctx, ViewerRequests& requests) {
  const char* label = "Open…";
  const float room = ImGui::GetContentRegionAvail().x, fold = ctx.px(22);
  const float button = ImGui::CalcTextSize(label).x + ctx.px(18);
  const float name_room = room - button - fold - ctx.px(14), left = ImGui::GetCursorPosX();
  const float top = ImGui::GetCursorPosY();
  ImGui::AlignTextToFramePadding();
  heading(ctx.look, elided_heading(ctx.look, ctx.model.source_name, name_room).c_str());
  ctx.mark("source", "name");
  if (tooltip_due()) tooltip(ctx.look, ctx.model.source_name + "\n" + ctx.model.source_detail);
  ImGui::SetCursorPos({left + room - fold - ctx.px(4) - button, top});
  if (ImGui::Button(label, {button, 0})) ctx.state.source.ask = true;
  ctx.mark("source", "open");
  tooltip(ctx.look,
          "Open a file, a camera, an address, the screen. A file can also be dropped into the window.",
          key_hint(Action::open_source));
  ImGui::SetCursorPos({left + room - fold + ctx.px(2), top + ctx.px(1)});
  fold_button(ctx, Icon::chevron_left, "left", ctx.state.left);
  ImGui::SetCursorPos({left, top + ImGui::GetFrameHeight() + ctx.px(3)});
  const FontScope font(ctx.look.small);
  ctx.model.progress.opening.empty() ? draw_detail(ctx) : draw_opening(ctx, requests);
}

void draw_fields(PanelContext& ctx) {
  const FieldOrder fields = ctx.model.fields;
  const Registry* filters = ctx.editor().registry();
  if (fields == FieldOrder::progressive || !filters || !filters->find(kDeinterlace)) return;
  for (const NodeDesc& node : ctx.editor().graph().nodes)
    if (node.filter == kDeinterlace && node.enabled) return;
  const char* label = "Deinterlace";
  const float left = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x;
  const FontScope font(ctx.look.small);
  const float button = ImGui::CalcTextSize(label).x + ctx.px(18);
  ImGui::AlignTextToFramePadding();
  text_coloured(colour::dim, elided(fields == FieldOrder::top_first ? "Interlaced, top field first"
                                                                    : "Interlaced, bottom field first",
                                    room - button - ctx.px(6)));
  ctx.mark("source", "fields");
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(left + room - button);
  const bool pressed = ImGui::Button(label, {button, 0});
  ctx.item("source", "deinterlace",
           "The frames have two fields of different times, so moving edges look like combs.\n"
           "Adds the filter deinterlace at the top of the graph.");
  if (pressed) add_deinterlace(ctx);
}

}  // namespace lensd::ui
