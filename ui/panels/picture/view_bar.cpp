// Draws the buttons at the picture's upper edge, and the bar and handle of a comparison.
#include <imgui_internal.h>

#include <cmath>

#include "ui/keys.hpp"
#include "ui/panel.hpp"
#include "ui/widgets/text_row.hpp"

namespace lensd::ui {
namespace {

constexpr ImGuiWindowFlags kFloating = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                                       ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove |
                                       ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav;

constexpr const char *kViewBar = "##view_bar", *kCompareBar = "##compare_bar";

// Minimum picture widths to show the zoom and the virtual camera's button; logical pixels
constexpr float kMinZoomWidth = 460, kMinCameraWidth = 520;
/// Distance of a comparison's bar from the picture's upper edge, and height of its labels; logical pixels
constexpr float kCompareBarTop = 40, kLabelHeight = 30;

constexpr std::pair<ChannelView, const char*> kChannels[] = {
    {ChannelView::colour, "RGB"}, {ChannelView::red, "R"},     {ChannelView::green, "G"},
    {ChannelView::blue, "B"},     {ChannelView::luma, "Luma"}, {ChannelView::alpha, "Alpha"}};

bool bar_button(PanelContext& ctx, const char* label, const char* mark, bool on, const char* doc,
                std::string_view key = {}) {
  ImGui::PushStyleColor(ImGuiCol_Button, on ? colour::gray(66) : colour::gray(0, 0));
  ImGui::PushStyleColor(ImGuiCol_Text, on ? colour::accent : colour::gray(200));
  const bool pressed = ImGui::Button(label);
  ImGui::PopStyleColor(2);
  ctx.item("view", mark, doc, key);
  ImGui::SameLine(0, ctx.px(1));
  return pressed;
}

void begin_bar(PanelContext& ctx, const char* id, const Rect& area, float y) {
  ImGui::SetNextWindowPos({std::floor(area.x + area.w * 0.5f), y}, ImGuiCond_Always, {0.5f, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ctx.px(4), ctx.px(3)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ctx.px(5));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ctx.px(7), ctx.px(3)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::over_picture);
  ImGui::PushFont(ctx.look.small);
  ImGui::Begin(id, nullptr, kFloating);
}

void end_bar() {
  ImGui::End();
  ImGui::PopFont();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(4);
}

/// Returns the size of a bar in the previous frame; empty if it was not drawn.
ImVec2 size_of_bar(const char* id) {
  const ImGuiWindow* bar = ImGui::FindWindowByName(id);
  return bar && bar->WasActive ? bar->Size : ImVec2{};
}

void choose_channel(PanelContext& ctx) {
  UiState& s = ctx.state;
  const char* shown = kChannels[static_cast<size_t>(s.channel)].second;
  if (bar_button(ctx, fmt::format("{}###channel", shown).c_str(), "channel", s.channel != ChannelView::colour,
                 "Which channel is shown"))
    ImGui::OpenPopup("channels");
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {ctx.px(8), ctx.px(6)});
  if (ImGui::BeginPopup("channels")) {
    for (const auto& [channel, label] : kChannels) {
      if (ImGui::Selectable(label, s.channel == channel)) s.channel = channel;
      ctx.mark("view", "channel", label);
    }
    ImGui::EndPopup();
  }
}

std::string shown_name(const std::string& node) {
  return node.empty() ? "output" : node;
}

void label(PanelContext& ctx, ImVec2 at, bool right_aligned, const std::string& text) {
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  const float pad = ctx.px(6);
  if (right_aligned) at.x -= size.x + 2 * pad;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.AddRectFilled(at, {at.x + size.x + 2 * pad, at.y + size.y + ctx.px(6)}, colour::over_picture,
                     ctx.px(3));
  if (ctx.rects)
    (*ctx.rects)[right_aligned ? "compare/label_right" : "compare/label"] = {at.x, at.y, size.x + 2 * pad,
                                                                             size.y + ctx.px(6)};
  list.AddText({at.x + pad, at.y + ctx.px(3)}, colour::text, text.c_str());
}

void draw_metrics(PanelContext& ctx) {
  const ViewerModel& m = ctx.model;
  if (!m.compared) {
    text_coloured(colour::faint, "PSNR n/a");
    tooltip(ctx.look, "Not measured yet, or the pictures have different sizes");
    return;
  }
  const double psnr = m.comparison.psnr(), ssim = m.comparison.ssim();
  text_coloured(colour::text,
                std::isinf(psnr) ? std::string("equal      ") : fmt::format("{:5.2f} dB", psnr));
  tooltip(ctx.look, "PSNR of this frame: peak signal-to-noise ratio over all channels; 40 dB is hard to see");
  ImGui::SameLine(0, ctx.px(8));
  text_coloured(colour::text, std::isnan(ssim) ? std::string("SSIM n/a") : fmt::format("SSIM {:.4f}", ssim));
  tooltip(ctx.look, "Structural similarity of luma: 1 is equal");
}

std::string virtual_camera_tip(const SinkStatus& camera) {
  if (!camera.wanted) return "Offer the output of the graph as a camera to other programs (PipeWire)";
  return fmt::format("Withdraw the camera '{}': {}, {} frames\n{}", camera.path, camera.state, camera.frames,
                     camera.problem);
}

const ParamSpec& gain_spec() {
  static const ParamSpec spec = [] {
    ParamSpec s;
    s.name = "gain", s.unit = "×", s.doc = "Multiplies the difference before it is coloured";
    s.type = ParamType::integer, s.min = 1, s.max = 32, s.widget = Widget::log_slider;
    s.default_value = static_cast<int64_t>(CompareState().gain);
    return s;
  }();
  return spec;
}

/// Draws the factor of the heat map. Shows a refusal as a message over the picture, because the bar has no
/// room for it.
void draw_gain(PanelContext& ctx) {
  CompareState& c = ctx.state.compare;
  TextEdit& edit = ctx.state.text_edit;
  ImGui::PushID("gain");
  ImGui::SetNextItemWidth(ctx.px(64));
  const ParamValue now = static_cast<int64_t>(std::lround(c.gain));
  if (const auto next = param_field(ctx.look, gain_spec(), now, edit))
    c.gain = static_cast<float>(std::get<int64_t>(*next));
  ctx.mark("compare", "gain");
  if (edit.refused == ImGui::GetID("##value") && !edit.refusal.empty()) {
    ctx.notify(true, edit.refusal);
    draw_refusal(edit, true, {});
  }
  ImGui::PopID();
}

/// The set of buttons for which the picture is wide enough.
enum class BarRoom { none, compact, full };
BarRoom bar_room(const PanelContext& ctx, const Rect& area) {
  return area.w >= ctx.px(400) ? BarRoom::full : area.w >= ctx.px(270) ? BarRoom::compact : BarRoom::none;
}

/// Returns true if the controls of a comparison fit into one line. Otherwise they take three lines.
bool compare_in_one_line(const PanelContext& ctx, const Rect& area) {
  return area.w >= ctx.px(620);
}

/// Returns the distance of the labels below a comparison's bar from the picture's upper edge.
float below_compare_bar(const PanelContext& ctx, const Rect& area) {
  return std::max(ctx.px(compare_in_one_line(ctx, area) ? 74.f : 118.f),
                  ctx.px(kCompareBarTop + 6) + size_of_bar(kCompareBar).y);
}

void draw_compare_bar(PanelContext& ctx, const Rect& area) {
  CompareState& c = ctx.state.compare;
  const bool wide = compare_in_one_line(ctx, area);
  begin_bar(ctx, kCompareBar, area, area.y + ctx.px(kCompareBarTop));
  const auto mode_button = [&](const char* text, const char* mark, CompareMode mode, const char* doc,
                               std::string_view key = {}) {
    if (bar_button(ctx, text, mark, c.mode == mode, doc, key)) c.mode = mode;
  };
  const auto close = [&] {
    if (bar_button(ctx, "×", "compare_close", false, "End the comparison", key_hint(Action::compare_split)))
      c.mode = CompareMode::off;
  };
  mode_button("Split", "compare_split", CompareMode::split,
              "A left of the line, B right of it; drag the line", key_hint(Action::compare_split));
  mode_button("Side", "compare_side", CompareMode::side, "A and B side by side, moved together");
  mode_button("Heat", "compare_heat", CompareMode::difference, "Difference of A and B as a heat map",
              key_hint(Action::compare_difference));
  ImGui::SameLine(0, ctx.px(6));
  if (!wide) close(), ImGui::NewLine();
  const float combo = wide ? std::min(ctx.px(104), area.w * 0.16f) : ctx.px(88);
  const auto choose = [&](const char* name, std::string& node) {
    text_coloured(colour::dim, name);
    ImGui::SameLine(0, ctx.px(4));
    choose_node(ctx, "compare", name, node, combo, false,
                fmt::format("Picture {}: a node, the source, or the output", name));
  };
  choose("A", c.a);
  ImGui::SameLine(0, ctx.px(6));
  choose("B", c.b);
  if (wide) ImGui::SameLine(0, ctx.px(8));
  if (c.mode == CompareMode::difference) {
    draw_gain(ctx);
    ImGui::SameLine(0, ctx.px(8));
  }
  draw_metrics(ctx);
  if (wide) {
    ImGui::SameLine(0, ctx.px(6));
    close();
    ImGui::NewLine();
  }
  end_bar();
}

void draw_zoom(PanelContext& ctx, double scale) {
  const std::string text = fmt::format("{:.0f} %", scale * 100);
  const float width = ImGui::CalcTextSize("8888 %").x, own = ImGui::CalcTextSize(text.c_str()).x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy({std::max(width, own) + ctx.px(8), ImGui::GetFrameHeight()});
  ImGui::GetWindowDrawList()->AddText({at.x + ctx.px(2) + std::max(width - own, 0.f), at.y + ctx.px(3)},
                                      colour::dim, text.c_str());
  ctx.item("view", "zoom", "Screen pixels per picture pixel; the wheel zooms at the pointer",
           key_hint({Action::zoom_in, Action::zoom_out}));
  ImGui::SameLine(0, ctx.px(1));
}

}  // namespace

void choose_node(PanelContext& ctx, const char* group, const char* mark, std::string& node, float width,
                 bool output_first, const std::string& tip) {
  const auto entry = [&](const std::string& id, const char* label) {
    if (ImGui::Selectable(label_text(label).c_str(), node == id)) node = id;
    ctx.mark(group, mark, id.empty() ? "output" : id);
  };
  const auto output = [&] {
    ImGui::PushID("output");  // a node may have the same name
    entry("", "output");
    ImGui::PopID();
  };
  ImGui::SetNextItemWidth(width);
  if (!begin_combo(ctx.look, fmt::format("##{}", mark).c_str(), node.empty() ? "output" : node))
    return ctx.item(group, mark, tip);
  if (output_first) output();
  entry(kSourceNode, kSourceNode);
  for (const NodeView& n : ctx.model.nodes)
    if (!n.automatic) entry(n.id, n.id.c_str());
  if (!output_first) output();
  ImGui::EndCombo();
}

float bars_height(const PanelContext& ctx, const Rect& area) {
  const bool has_bars = bar_room(ctx, area) != BarRoom::none;
  if (ctx.state.compare.mode == CompareMode::off) return ctx.state.panels && has_bars ? ctx.px(40) : 0;
  return (has_bars ? below_compare_bar(ctx, area) : 0) + ctx.px(kLabelHeight);
}

void draw_view_bar(PanelContext& ctx, const Rect& area, const Rect& own, ViewerRequests& requests) {
  UiState& s = ctx.state;
  const BarRoom room = bar_room(ctx, area);
  if (room == BarRoom::none) return;
  const bool full = room == BarRoom::full;
  begin_bar(ctx, kViewBar, area, area.y + ctx.px(8));
  const float density = ImGui::GetIO().DisplayFramebufferScale.x;
  if (bar_button(ctx, "Fit", "fit", s.view.fits(), "Fit the picture into the window", key_hint(Action::fit)))
    s.view = {.pixel_aspect = s.view.pixel_aspect};
  const Rect framebuffer{own.x * density, own.y * density, own.w * density, own.h * density};
  const double scale = place(ctx.model.picture, framebuffer, s.view).scale;
  if (full && bar_button(ctx, "1:1", "actual", std::abs(scale - 1) < 1e-6,
                         "One picture pixel per screen pixel", key_hint(Action::actual_size)))
    s.view = actual_size(ctx.model.picture, framebuffer, s.view);
  if (area.w >= ctx.px(kMinZoomWidth)) draw_zoom(ctx, scale);
  if (bar_button(ctx, "Compare", "compare", s.compare.mode != CompareMode::off, "Compare two nodes' pictures",
                 key_hint(Action::compare_split)))
    s.compare.mode = s.compare.mode == CompareMode::off ? CompareMode::split : CompareMode::off;
  if (full) choose_channel(ctx);
  if (bar_button(ctx, "Probe", "probe", s.probe.on, "Values of the pixel under the pointer",
                 key_hint(Action::probe)))
    s.probe.on = !s.probe.on;
  if (full && bar_button(ctx, "Snapshot", "snapshot", false, "Write the picture as a PNG file",
                         key_hint(Action::snapshot)))
    requests.snapshot = true;
  const bool on = ctx.model.recording;
  if (bar_button(ctx,
                 on ? fmt::format("Stop {}###record", ctx.model.record_frames).c_str() : "Record###record",
                 "record", on,
                 on ? fmt::format("Stop recording: {} frames so far, into\n{}", ctx.model.record_frames,
                                  ctx.model.record_path)
                          .c_str()
                    : "Record the output of the graph",
                 key_hint(Action::record)))
    requests.toggle_record = true;
  if (area.w >= ctx.px(kMinCameraWidth) &&
      bar_button(ctx, "Camera", "virtual_camera", ctx.model.virtual_camera.wanted,
                 virtual_camera_tip(ctx.model.virtual_camera).c_str(), key_hint(Action::virtual_camera)))
    requests.toggle_virtual_camera = true;
  if (bar_button(ctx, "Keys", "keys", s.help, "List of all keys", key_hint(Action::help))) s.help = !s.help;
  ImGui::NewLine();
  end_bar();
}

void draw_compare(PanelContext& ctx, const Rect& area, const Rect& placed) {
  const CompareState& c = ctx.state.compare;
  const bool has_bars = bar_room(ctx, area) != BarRoom::none;
  if (has_bars) draw_compare_bar(ctx, area);
  if (ctx.state.bypass) return;  // the picture is the source
  const ImVec2 size = size_of_bar(kCompareBar);
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const FontScope font(ctx.look.small);
  const std::string a = "A  " + shown_name(c.a), b = "B  " + shown_name(c.b);
  const std::string both = shown_name(c.a) + " against " + shown_name(c.b);
  const auto width_of = [](const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; };
  // Place the labels beside the bars if there is room, else below them.
  const float bar = std::max(
                  {ctx.px(compare_in_one_line(ctx, area) ? 530.f : 390.f), size.x, size_of_bar(kViewBar).x}),
              label_width =
                  ctx.px(36) +
                  (c.mode == CompareMode::difference ? width_of(both) : std::max(width_of(a), width_of(b)));
  const bool beside = !has_bars || !ctx.state.panels || (area.w - bar) * 0.5f >= label_width;
  const float top = area.y + (beside ? ctx.px(10) : below_compare_bar(ctx, area)), inset = ctx.px(10);
  if (ctx.rects && has_bars)
    (*ctx.rects)["compare/bar"] = {std::floor(area.x + (area.w - size.x) * 0.5f),
                                   area.y + ctx.px(kCompareBarTop), size.x, size.y};
  if (c.mode == CompareMode::split) {
    const float x = std::floor(area.x + area.w * c.split), middle = area.y + area.h * 0.5f;
    // Draw the line only over the picture, so that the bars stay legible.
    const float from = std::max(area.y, placed.y), to = std::min(area.y + area.h, placed.y + placed.h);
    if (from < to) list.AddLine({x, from}, {x, to}, colour::gray(255, 210), ctx.px(1.5f));
    if (ctx.rects) (*ctx.rects)["compare/line"] = {x, from, 1, std::max(to - from, 0.f)};
    list.AddCircleFilled({x, middle}, ctx.px(c.dragging ? 10.f : 8.f),
                         c.dragging ? colour::accent : colour::gray(245), 24);
    for (const float side : {-1.f, 1.f})
      list.AddTriangleFilled({x + side * ctx.px(5), middle}, {x + side * ctx.px(2), middle - ctx.px(3)},
                             {x + side * ctx.px(2), middle + ctx.px(3)}, colour::gray(30));
    if (ctx.rects)
      (*ctx.rects)["compare/handle"] = {x - ctx.px(8), middle - ctx.px(8), ctx.px(16), ctx.px(16)};
    label(ctx, {area.x + inset, top}, false, a);
    label(ctx, {area.x + area.w - inset, top}, true, b);
  } else if (c.mode == CompareMode::side) {
    const auto [left, right] = halves(area);
    label(ctx, {left.x + inset, top}, false, a);
    label(ctx, {right.x + right.w - inset, top}, true, b);
  } else {
    label(ctx, {area.x + inset, top}, false, both);
  }
}

}  // namespace lensd::ui
