// Draws the histogram, waveform, parade or vectorscope of a node, with a graticule.
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/panel.hpp"
#include "ui/widgets/scope_paint.hpp"
#include "ui/widgets/scope_tip.hpp"

namespace lensd::ui {
namespace {

constexpr ImU32 kScreen = colour::gray(17), kGraticule = colour::gray(255, 26), kMark = colour::gray(255, 70),
                kName = colour::gray(150);

struct KindButton {
  ScopeKind kind;
  const char* label;
  const char* doc;
};
constexpr KindButton kKinds[] = {
    {ScopeKind::histogram, "Histogram", "Pixels by value: R, G, B and luma"},
    {ScopeKind::waveform, "Waveform", "Luma by column: left to right as in the picture, 0 at the bottom"},
    {ScopeKind::parade, "Parade", "R, G and B by column, side by side"},
    {ScopeKind::vectorscope, "Vector", "Chroma: grey in the middle, hue as the angle"},
};

struct Plot {
  ImVec2 at, size;
  ImVec2 end() const { return {at.x + size.x, at.y + size.y}; }
  ImVec2 point(float x, float y) const { return {at.x + x * size.x, at.y + (1 - y) * size.y}; }
};

void choose_kind(PanelContext& ctx) {
  ScopesState& s = ctx.state.scopes;
  const float gap = ctx.px(2);
  const float width = std::floor((ImGui::GetContentRegionAvail().x - 3 * gap) / 4);
  for (const KindButton& button : kKinds) {
    if (&button != kKinds) ImGui::SameLine(0, gap);
    if (toggle_button(ctx.look, button.label, s.kind == button.kind, width)) s.kind = button.kind;
    ctx.item("scopes", name(button.kind), button.doc);
  }
}

Plot begin_plot(PanelContext& ctx, ScopeKind kind) {
  const float room = std::max(ImGui::GetContentRegionAvail().x, 1.f);
  Plot plot;
  plot.at = ImGui::GetCursorScreenPos();
  plot.size = {room, ctx.px(kind == ScopeKind::histogram ? 110 : 160)};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (kind == ScopeKind::vectorscope) plot.size.y = std::min(room, ctx.px(256));
  ImGui::InvisibleButton("##plot", plot.size);
  ctx.mark("scopes", "plot");
  list.AddRectFilled(plot.at, plot.end(), kScreen, ctx.px(3));
  if (kind == ScopeKind::vectorscope) {
    plot.at.x += std::floor((room - plot.size.y) / 2);
    plot.size.x = plot.size.y;
  }
  return plot;
}

/// Returns the largest count. Ignores the first and the last value, because clipped pixels would dominate the
/// scale.
double histogram_peak(const ScopeReading& reading) {
  const auto bins = static_cast<size_t>(scope_levels(reading.image.format));
  uint32_t most = 0;
  for (size_t i = 0; i < reading.counts.size(); ++i)
    if (i % bins != 0 && i % bins != bins - 1) most = std::max(most, reading.counts[i]);
  return std::max(1., static_cast<double>(most));
}

/// Draws `bins` counts (a multiple of 256) as 256 bars. A bar of several counts has the height of the
/// largest.
void draw_channel(const Plot& plot, const uint32_t* counts, int bins, double peak, bool log, ImU32 fill,
                  ImU32 line, float thickness) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  std::array<ImVec2, 256> top;
  const int each = bins / 256;
  for (int v = 0; v < 256; ++v) {
    const double count = *std::max_element(counts + v * each, counts + (v + 1) * each);
    const double height = log ? std::log1p(count) / std::log1p(peak) : count / peak;
    top[static_cast<size_t>(v)] =
        plot.point((static_cast<float>(v) + 0.5f) / 256, static_cast<float>(std::min(height, 1.)) * 0.96f);
    const float x0 = plot.at.x + static_cast<float>(v) / 256 * plot.size.x,
                x1 = plot.at.x + static_cast<float>(v + 1) / 256 * plot.size.x;
    if (fill != 0 && count > 0)
      list.AddRectFilled({x0, top[static_cast<size_t>(v)].y}, {x1, plot.end().y}, fill);
  }
  list.AddPolyline(top.data(), 256, line, 0, thickness);
}

void draw_histogram(PanelContext& ctx, const Plot& plot) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (const float x : {0.25f, 0.5f, 0.75f}) list.AddLine(plot.point(x, 0), plot.point(x, 1), kGraticule);
  const ScopeReading& reading = ctx.model.scope;
  ScopesState& s = ctx.state.scopes;
  if (reading.counts.size() != scope_counts(ScopeKind::histogram, reading.image)) return;
  const int bins = scope_levels(reading.image.format);
  if (s.version != ctx.model.scope_version) {
    const double peak = histogram_peak(reading);
    s.peak = s.peak <= 0 ? peak : s.peak + 0.2 * (peak - s.peak);
    s.version = ctx.model.scope_version;
  }
  constexpr ImU32 kInks[] = {IM_COL32(224, 84, 76, 0), IM_COL32(92, 190, 100, 0), IM_COL32(84, 128, 236, 0)};
  constexpr ImU32 kFill = IM_COL32(0, 0, 0, 90), kLine = IM_COL32(0, 0, 0, 200);  // alpha only
  const uint32_t* counts = reading.counts.data();
  list.PushClipRect(plot.at, plot.end(), true);
  const bool gray = is_gray(reading.image.format);
  for (int c = 0; c < 3 && !gray; ++c)
    draw_channel(plot, counts + bins * c, bins, s.peak, s.log, kInks[c] | kFill, kInks[c] | kLine,
                 std::max(1.f, ctx.px(1)));
  draw_channel(plot, counts + 3 * bins, bins, s.peak, s.log, gray ? colour::gray(200, 70) : 0,
               colour::gray(225, 190), std::max(1.f, ctx.px(1.2f)));
  list.PopClipRect();
}

/// Shows the counts under the mouse pointer. The plot is the last item, or a part of it.
void draw_tip(PanelContext& ctx, const Plot& plot) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float x = (mouse.x - plot.at.x) / plot.size.x, y = 1 - (mouse.y - plot.at.y) / plot.size.y;
  if (!tooltip_due() || ctx.model.scope.scope.kind != ctx.state.scopes.kind || x < 0 || x >= 1) return;
  if (const std::string text = scope_tip(ctx.model.scope, x, y); !text.empty()) tooltip(ctx.look, text);
}

void draw_painting(PanelContext& ctx, const Plot& plot) {
  ScopesState& s = ctx.state.scopes;
  const bool fitting = ctx.model.scope.scope.kind == s.kind && !ctx.model.scope.counts.empty();
  if (fitting && s.version != ctx.model.scope_version) {
    s.size = paint_scope(ctx.model.scope, s.pixels);
    s.version = ctx.model.scope_version, ++s.paintings;
  }
  if (!fitting || s.texture == 0 || s.size.width == 0) return;
  ImGui::GetWindowDrawList()->AddImage((ImTextureID)(intptr_t)s.texture, plot.at, plot.end());
}

enum class Marks { lines, names };

void draw_levels(PanelContext& ctx, const Plot& plot, Marks marks) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float height = ImGui::GetFontSize();
  const int levels = scope_levels(ctx.model.scope.image.format);
  for (int quarter = 0; quarter <= 4; ++quarter) {
    const int level = std::min(quarter * levels / 4, levels - 1);
    const ImVec2 at = plot.point(0, (static_cast<float>(level) + 0.5f) / static_cast<float>(levels));
    if (marks == Marks::lines) {
      list.AddLine(at, {plot.end().x, at.y}, kGraticule);
      continue;
    }
    const float y = std::clamp(at.y - height / 2, plot.at.y + ctx.px(1), plot.end().y - height - ctx.px(1));
    list.AddText({at.x + ctx.px(4), y}, kName, fmt::format("{}", level).c_str());
  }
  if (marks == Marks::names || ctx.state.scopes.kind != ScopeKind::parade) return;
  for (const float x : {1 / 3.f, 2 / 3.f}) list.AddLine(plot.point(x, 0), plot.point(x, 1), kMark);
}

struct Target {
  const char* name;
  double r, g, b;
};
constexpr Target kTargets[] = {{"R", .75, 0, 0},    {"Mg", .75, 0, .75}, {"B", 0, 0, .75},
                               {"Cy", 0, .75, .75}, {"G", 0, .75, 0},    {"Yl", .75, .75, 0}};

void draw_targets(PanelContext& ctx, const Plot& plot, Marks marks) {
  constexpr float kSkin = 123 * 3.14159265f / 180;  // angle of skin tones from the Cb axis
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const int levels = scope_levels(ctx.model.scope.image.format);
  const YuvMatrix matrix = ctx.model.scope.matrix;
  const ScopePoint grey = vectorscope_point(matrix, levels, 0, 0, 0);
  const ImVec2 centre = plot.point(grey.x, grey.y);
  if (marks == Marks::lines) {
    const float reach = plot.size.y * 0.46f;
    list.AddCircle(centre, plot.size.y * 0.498f, kGraticule, 96);
    list.AddLine(plot.point(0, grey.y), plot.point(1, grey.y), kGraticule);
    list.AddLine(plot.point(grey.x, 0), plot.point(grey.x, 1), kGraticule);
    list.AddLine(centre, {centre.x + reach * std::cos(kSkin), centre.y - reach * std::sin(kSkin)},
                 kGraticule);
  }
  const float half = ctx.px(4);
  for (const Target& t : kTargets) {
    const ScopePoint p = vectorscope_point(matrix, levels, t.r, t.g, t.b);
    const ImVec2 at = plot.point(p.x, p.y);
    if (marks == Marks::lines)
      list.AddRect({at.x - half, at.y - half}, {at.x + half, at.y + half}, kMark);
    else
      list.AddText({at.x + half + ctx.px(2), at.y - ImGui::GetFontSize() / 2}, kName, t.name);
  }
}

}  // namespace

void draw_scopes_panel(PanelContext& ctx) {
  ScopesState& s = ctx.state.scopes;
  const FontScope font(ctx.look.small);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ctx.px(8), ctx.px(4)});
  const float log_width = ctx.px(44), gap = ctx.px(4), room = ImGui::GetContentRegionAvail().x;
  const bool histogram = s.kind == ScopeKind::histogram;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ctx.px(6), ctx.px(3)});
  choose_node(ctx, "scopes", "node", s.node, histogram ? room - log_width - gap : room, true,
              "The node whose image is measured");
  ImGui::PopStyleVar();
  if (histogram) {
    ImGui::SameLine(0, gap);
    if (toggle_button(ctx.look, "log", s.log, log_width)) s.log = !s.log;
    ctx.item("scopes", "log", "Logarithmic heights, to show rare values");
  }
  choose_kind(ctx);
  const Plot plot = begin_plot(ctx, s.kind);
  if (!(ctx.model.scope.scope == ScopeRequest{s.node, s.kind}))
    s.peak = 0;  // the reading belongs to another scope
  if (s.kind == ScopeKind::histogram) {
    draw_histogram(ctx, plot);
  } else {
    // Draw lines behind the scope and names in front of it.
    const auto draw_marks = s.kind == ScopeKind::vectorscope ? draw_targets : draw_levels;
    draw_marks(ctx, plot, Marks::lines);
    draw_painting(ctx, plot);
    draw_marks(ctx, plot, Marks::names);
  }
  draw_tip(ctx, plot);
  ImGui::PopStyleVar();
}

}  // namespace lensd::ui
