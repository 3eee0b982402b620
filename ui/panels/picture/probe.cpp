// Draws the pixel probe, and the grid and values of pixels at high magnification.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ui/model/probe_text.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

// Minimum sizes of a picture pixel: for the grid (framebuffer pixels), for one value of 8 bits, for one value
// of 16 bits, and for the three values of a colour (logical pixels).
constexpr float kMinGrid = 16, kMinLuma = 26, kMinLumaDeep = 42, kMinColour = 44;

/// Returns black or white, whichever has the higher contrast to the pixel by the formula of WCAG 2.1. This
/// contrast is at least 4.58.
ImU32 ink_on(const Rgba16& c, double white) {
  const auto linear = [&](int sample) {
    const double v = sample / white;
    return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  const double luminance = 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
  return (luminance + 0.05) * (luminance + 0.05) > 0.05 * 1.05 ? colour::gray(0) : colour::gray(255);
}

/// Draws three right-aligned values. Padding with spaces would not align, because spaces are narrower than
/// digits.
void draw_values(PanelContext& ctx, ImU32 ink, const std::array<long, 3>& values, bool deep) {
  const float field = ImGui::CalcTextSize(deep ? "88888" : "888").x, gap = ctx.px(5);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  float end = at.x + field;
  for (const long value : values) {
    const std::string text = fmt::format("{}", value);
    ImGui::GetWindowDrawList()->AddText({end - ImGui::CalcTextSize(text.c_str()).x, at.y}, ink, text.c_str());
    end += field + gap;
  }
  ImGui::Dummy({3 * field + 3 * gap, ImGui::GetTextLineHeight()});  // includes a gap before the next values
}

/// Returns the maximum width of "#" and six hex digits, or twelve if a row is deep, so that the box keeps its
/// size.
float hex_width(const std::vector<ProbeRow>& rows) {
  const bool deep = std::ranges::any_of(rows, &ProbeRow::deep);
  float widest = 0;
  for (const char* digit = "0123456789abcdef"; *digit; ++digit)
    widest = std::max(widest, ImGui::CalcTextSize(digit, digit + 1).x);
  return std::ceil(ImGui::CalcTextSize("#").x + (deep ? 12 : 6) * widest);
}

void draw_row(PanelContext& ctx, const ProbeRow& row) {
  const Rgba16& c = row.value;
  const unsigned unit = row.deep ? 257 : 1;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = ImGui::GetFontSize();
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + side, at.y + side},
                                            IM_COL32(c.r / unit, c.g / unit, c.b / unit, 255), ctx.px(2));
  ImGui::GetWindowDrawList()->AddRect(at, {at.x + side, at.y + side}, colour::gray(90), ctx.px(2));
  ImGui::Dummy({side, side});
  ImGui::TableNextColumn();
  text_coloured(colour::dim, row.node);
  ImGui::TableNextColumn();
  if (row.gray) {
    text_coloured(colour::text, fmt::format("{:>3}", c.r));
    ImGui::TableNextColumn();
    text_coloured(colour::faint, "grey");
    ImGui::TableNextColumn();
    text_coloured(colour::dim, hex_of(c, true, row.deep));
    return;
  }
  draw_values(ctx, colour::text, {c.r, c.g, c.b}, row.deep);
  ImGui::TableNextColumn();
  draw_values(ctx, colour::dim, ycbcr_of(c, row.deep, ctx.model.probe_matrix), row.deep);
  ImGui::TableNextColumn();
  text_coloured(colour::dim, hex_of(c, false, row.deep));
}

}  // namespace

void draw_probe(PanelContext& ctx, const Rect& area, const Rect& placed) {
  ProbeState& p = ctx.state.probe;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const Extent picture = ctx.model.picture;
  p.over = p.on && !ImGui::GetIO().WantCaptureMouse && area.contains(mouse.x, mouse.y) &&
           placed.contains(mouse.x, mouse.y) && picture.width > 0;
  if (!p.over) return;
  // Use the centre of the screen pixel under the pointer, to avoid rounding errors at the edges of picture
  // pixels.
  const float half = 0.5f / ImGui::GetIO().DisplayFramebufferScale.x;
  const auto pixel = [&](float at, float from, float length, int count) {
    return std::clamp(static_cast<int>((at + half - from) / length * static_cast<float>(count)), 0,
                      count - 1);
  };
  p.x = pixel(mouse.x, placed.x, placed.w, picture.width);
  p.y = pixel(mouse.y, placed.y, placed.h, picture.height);
  const ViewerModel& m = ctx.model;
  if (m.probe.empty()) return;
  // Place the box beside the pointer and the probed pixel, on the side that has room.
  const float square = placed.w / static_cast<float>(picture.width);
  const float off = std::max(ctx.px(18), std::min(square, ctx.px(64)) + ctx.px(6));
  const bool left = mouse.x + off + ctx.px(300) > area.x + area.w && mouse.x - area.x > area.w * 0.5f;
  const bool above = mouse.y > area.y + area.h * 0.6f;
  ImGui::SetNextWindowPos({mouse.x + (left ? -off : off), mouse.y + (above ? -off : off)}, ImGuiCond_Always,
                          {left ? 1.f : 0.f, above ? 1.f : 0.f});
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {ctx.px(10), ctx.px(7)});
  const VarScope cell_padding(ImGuiStyleVar_CellPadding, {ctx.px(4), ctx.px(2)});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::over_picture);
  const FontScope font(ctx.look.small);
  ImGui::Begin("##probe", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoInputs |
                   ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav);
  text_coloured(colour::accent, fmt::format("x {}  y {}", m.probe_x, m.probe_y));
  if (ImGui::BeginTable("probe", 5, ImGuiTableFlags_SizingFixedFit)) {
    for (const char* column : {"sample", "node", "rgb", "ycbcr"}) ImGui::TableSetupColumn(column);
    ImGui::TableSetupColumn("hex", ImGuiTableColumnFlags_WidthFixed, hex_width(m.probe));
    ImGui::TableNextRow();
    for (const char* title : {"", "", "RGB", ycbcr_title(m.probe_matrix), ""}) {
      ImGui::TableNextColumn();
      text_coloured(colour::faint, title);
    }
    for (const ProbeRow& row : m.probe) draw_row(ctx, row);
    ImGui::EndTable();
    ctx.mark("probe", "table");
  }
  ImGui::End();
  ImGui::PopStyleColor();
}

void draw_pixel_values(PanelContext& ctx, const Rect& area, const Rect& placed) {
  ProbeState& p = ctx.state.probe;
  p.patch = {};
  const Extent picture = ctx.model.picture;
  if (picture.width < 1 || picture.height < 1) return;
  const float sx = placed.w / static_cast<float>(picture.width),
              sy = placed.h / static_cast<float>(picture.height);
  const float density = ImGui::GetIO().DisplayFramebufferScale.x;
  const float side = std::min(sx, sy);  // pixels may be much wider than tall
  if (side * density < kMinGrid) return;
  const int x0 = std::max(0, static_cast<int>((area.x - placed.x) / sx));
  const int y0 = std::max(0, static_cast<int>((area.y - placed.y) / sy));
  const int x1 = std::min(picture.width, static_cast<int>((area.x + area.w - placed.x) / sx) + 1);
  const int y1 = std::min(picture.height, static_cast<int>((area.y + area.h - placed.y) / sy) + 1);
  if (x1 <= x0 || y1 <= y0) return;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.PushClipRect({area.x, area.y}, {area.x + area.w, area.y + area.h});
  const auto left = [&](int x) { return std::floor(placed.x + static_cast<float>(x) * sx); };
  const auto top = [&](int y) { return std::floor(placed.y + static_cast<float>(y) * sy); };
  for (int x = x0; x <= x1; ++x) list.AddLine({left(x), top(y0)}, {left(x), top(y1)}, colour::gray(128, 90));
  for (int y = y0; y <= y1; ++y) list.AddLine({left(x0), top(y)}, {left(x1), top(y)}, colour::gray(128, 90));

  if (p.over) {  // an outline that is visible on light and dark pixels
    const ImVec2 from{left(p.x), top(p.y)}, to{left(p.x + 1) + 1, top(p.y + 1) + 1};
    list.AddRect({from.x - 1, from.y - 1}, {to.x + 1, to.y + 1}, colour::gray(0, 200), 0, 0, ctx.px(3));
    list.AddRect(from, to, colour::accent, 0, 0, ctx.px(1.5f));
  }

  p.patch_x = x0, p.patch_y = y0, p.patch = {x1 - x0, y1 - y0};
  const ViewerModel& m = ctx.model;
  ImGui::PushFont(ctx.look.small);
  const float line = ImGui::GetFontSize() * 0.86f;
  const bool colours = side >= ctx.px(kMinColour) && !m.patch_gray;
  if (side >= ctx.px(m.patch_deep ? kMinLumaDeep : kMinLuma) && !m.patch.empty()) {
    for (int y = std::max(y0, m.patch_y); y < std::min(y1, m.patch_y + m.patch_size.height); ++y)
      for (int x = std::max(x0, m.patch_x); x < std::min(x1, m.patch_x + m.patch_size.width); ++x) {
        const Rgba16 c =
            m.patch[static_cast<size_t>(y - m.patch_y) * static_cast<size_t>(m.patch_size.width) +
                    static_cast<size_t>(x - m.patch_x)];
        const int luma = (299 * c.r + 587 * c.g + 114 * c.b + 500) / 1000;
        const ImU32 ink = ink_on(c, m.patch_deep ? 65535 : 255);
        const auto number = [&](int value, float row, float rows) {
          const std::string text = fmt::format("{}", value);
          const float width = ImGui::CalcTextSize(text.c_str()).x * 0.86f;
          list.AddText(ImGui::GetFont(), line,
                       {left(x) + (sx - width) * 0.5f, top(y) + sy * 0.5f + (row - rows * 0.5f) * line}, ink,
                       text.c_str());
        };
        if (colours) {
          number(c.r, 0, 3), number(c.g, 1, 3), number(c.b, 2, 3);
        } else {
          number(m.patch_gray ? c.r : luma, 0, 1);
        }
      }
  }
  ImGui::PopFont();
  list.PopClipRect();
}

}  // namespace lensd::ui
