// Draws the rectangle of a crop node over the node's input, with edges and corners to drag.
#include <algorithm>
#include <cmath>

#include "ui/keys.hpp"
#include "ui/panel.hpp"
#include "ui/panels/picture/edit_crop.hpp"

namespace lensd::ui {
namespace {

constexpr float kReach = 10, kHandle = 4.5f;  // logical pixels

/// The edited node, the size of its input, and its rectangle.
struct CropView {
  const NodeView& node;
  Extent input;
  PixelRect rect;
  Rect shown;  ///< `rect` on the screen, in ImGui units
};

Rect on_screen(const PixelRect& rect, Extent input, const Rect& placed) {
  const float sx = placed.w / static_cast<float>(input.width),
              sy = placed.h / static_cast<float>(input.height);
  const auto at = [](float from, int pixels, float scale) {
    return std::round(from + static_cast<float>(pixels) * scale);
  };
  const float left = at(placed.x, rect.x, sx), top = at(placed.y, rect.y, sy);
  return {left, top, at(placed.x, rect.x + rect.width, sx) - left,
          at(placed.y, rect.y + rect.height, sy) - top};
}

Grip grip_at(const PanelContext& ctx, const Rect& r, ImVec2 p) {
  const float reach = ctx.px(kReach);
  if (p.x < r.x - reach || p.x > r.x + r.w + reach || p.y < r.y - reach || p.y > r.y + r.h + reach) return {};
  // If two opposite edges are within reach, take the nearer one.
  const auto edge = [&](float at, float from, float length) {
    const float low = std::abs(at - from), high = std::abs(at - from - length);
    return std::min(low, high) > reach ? 0 : low < high ? -1 : 1;
  };
  Grip grip{edge(p.x, r.x, r.w), edge(p.y, r.y, r.h), false};
  grip.move = !grip.any() && r.contains(p.x, p.y);
  return grip;
}

void set_cursor(const Grip& grip) {
  ImGui::SetMouseCursor(grip.move          ? ImGuiMouseCursor_ResizeAll
                        : grip.x == 0      ? ImGuiMouseCursor_ResizeNS
                        : grip.y == 0      ? ImGuiMouseCursor_ResizeEW
                        : grip.x == grip.y ? ImGuiMouseCursor_ResizeNWSE
                                           : ImGuiMouseCursor_ResizeNESW);
}

void handle_drag(PanelContext& ctx, const CropView& view, const Rect& area, const Rect& placed) {
  CropState& c = ctx.state.crop;
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 mouse = io.MousePos;
  if (!ImGui::IsMouseDown(0)) c.grip = {};
  const bool over = !io.WantCaptureMouse && area.contains(mouse.x, mouse.y);
  const Grip under = over ? grip_at(ctx, view.shown, mouse) : Grip{};
  if (over && ImGui::IsMouseClicked(0)) {
    c.grip = under, c.start = view.rect;
    c.from_x = mouse.x, c.from_y = mouse.y;
  }
  const Grip& active = c.grip.any() ? c.grip : under;
  if (active.any() && (c.grip.any() || !ImGui::IsMouseDown(0))) set_cursor(active);
  if (!c.grip.any()) return;
  const auto pixels = [](float distance, float length, int count) {
    return static_cast<int>(std::lround(distance / length * static_cast<float>(count)));
  };
  const PixelRect next = dragged(c.start, c.grip, pixels(mouse.x - c.from_x, placed.w, view.input.width),
                                 pixels(mouse.y - c.from_y, placed.h, view.input.height), view.input);
  if (next != view.rect)
    ctx.editor().set_params(view.node.id, rectangle_values(view.node, next), "rectangle");
}

void draw_handles(PanelContext& ctx, ImDrawList& list, const Rect& r) {
  const float half = ctx.px(kHandle);
  for (const float y : {0.f, 0.5f, 1.f})
    for (const float x : {0.f, 0.5f, 1.f}) {
      if (x == 0.5f && y == 0.5f) continue;
      const ImVec2 at{std::round(r.x + r.w * x), std::round(r.y + r.h * y)};
      list.AddRectFilled({at.x - half, at.y - half}, {at.x + half, at.y + half}, colour::accent, ctx.px(1));
      list.AddRect({at.x - half, at.y - half}, {at.x + half, at.y + half}, colour::gray(20), ctx.px(1));
    }
}

void draw_label(PanelContext& ctx, ImDrawList& list, const CropView& view, const Rect& area) {
  const PixelRect& rect = view.rect;
  const bool tiny = std::min(rect.width, rect.height) < kTinySide;
  const std::string text = fmt::format("{}×{} at {}, {}{} · {} ends", rect.width, rect.height, rect.x, rect.y,
                                       tiny ? ": very small" : "", key_text(Action::escape));
  const FontScope font(ctx.look.small);
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  const float pad = ctx.px(6), height = size.y + 2 * pad, width = size.x + 2 * pad;
  const float below = view.shown.y + view.shown.h + ctx.px(8);
  const float wanted =
      below + height < area.y + area.h ? below : view.shown.y + view.shown.h - height - ctx.px(8);
  // In a zoomed picture, the rectangle may end outside the area.
  const float y = std::clamp(wanted, area.y, std::max(area.y, area.y + area.h - height));
  const float x = std::clamp(view.shown.x, area.x, std::max(area.x, area.x + area.w - width));
  list.AddRectFilled({x, y}, {x + width, y + height}, colour::over_picture, ctx.px(3));
  list.AddText({x + pad, y + pad}, tiny ? colour::problem : colour::text, text.c_str());
  if (ctx.rects) (*ctx.rects)["crop/label"] = {x, y, width, height};
}

}  // namespace

void draw_crop(PanelContext& ctx, const Rect& area, const Rect& placed) {
  CropState& c = ctx.state.crop;
  if (c.node.empty()) return;
  const auto shown = ctx.editor().shown();
  const auto node = std::ranges::find(shown->nodes, c.node, &NodeView::id);
  const bool valid =
      node != shown->nodes.end() && node->enabled && node->schema && has_rectangle(*node->schema);
  if (!valid) return c = {}, void();
  const Extent input = ctx.model.picture;
  const Extent known = output_size(ctx.model, input_of(shown->graph, c.node));
  // Draw only over the crop node's input. After a change, the picture of another node may still be shown for
  // a moment; its size usually differs.
  if (!crop_shown(ctx.state) || input.width < 1 || input.height < 1 || (known.width > 0 && known != input))
    return c.grip = {}, void();
  CropView view{*node, input, rectangle_of(*node, input), {}};
  view.shown = on_screen(view.rect, input, placed);
  handle_drag(ctx, view, area, placed);
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.PushClipRect({area.x, area.y}, {area.x + area.w, area.y + area.h});
  const Rect &r = view.shown, &p = placed;
  constexpr ImU32 kShade = colour::gray(0, 150);
  list.AddRectFilled({p.x, p.y}, {p.x + p.w, r.y}, kShade);
  list.AddRectFilled({p.x, r.y + r.h}, {p.x + p.w, p.y + p.h}, kShade);
  list.AddRectFilled({p.x, r.y}, {r.x, r.y + r.h}, kShade);
  list.AddRectFilled({r.x + r.w, r.y}, {p.x + p.w, r.y + r.h}, kShade);
  list.AddRect({r.x - 1, r.y - 1}, {r.x + r.w + 1, r.y + r.h + 1}, colour::gray(0, 160));
  list.AddRect({r.x, r.y}, {r.x + r.w, r.y + r.h}, colour::accent, 0, 0, ctx.px(1.5f));
  draw_handles(ctx, list, r);
  draw_label(ctx, list, view, area);
  list.PopClipRect();
  if (ctx.rects) (*ctx.rects)["crop/rectangle"] = r;
}

bool crop_shown(const UiState& state) {
  return !state.crop.node.empty() && state.compare.mode == CompareMode::off && !state.bypass;
}

void edit_crop(UiState& state, const std::string& node) {
  state.crop = {.node = node};
  state.compare.mode = CompareMode::off;  // its pictures would hide the rectangle
}

void toggle_crop(PanelContext& ctx) {
  const bool compares = ctx.state.compare.mode != CompareMode::off;
  std::string found = ctx.state.crop.node;
  if (!found.empty() && !compares) return ctx.state.crop = {}, void();
  const auto shown = ctx.editor().shown();
  std::string off;
  for (const NodeView& node : shown->nodes) {
    if (!node.schema || !has_rectangle(*node.schema)) continue;
    if (!node.enabled)
      off = node.id;
    else if (found.empty() || node.id == ctx.state.graph.selected)
      found = node.id;
  }
  if (!found.empty()) return edit_crop(ctx.state, found);
  if (!off.empty())
    return ctx.notify(false, fmt::format("{} is off; switch it on to drag its rectangle", off));
  ctx.notify(false, fmt::format("The graph has no crop node; {} adds one", key_text(Action::add_filter)));
}

}  // namespace lensd::ui
