// The theme: neutral greys that do not affect how colours are perceived, one accent colour, one font family
// with tabular digits. Sizes are in logical pixels.
#pragma once

#include <imgui.h>

namespace lensd::ui {

class ExtraGlyphs;

inline constexpr float kSurround = 0.086f;  ///< grey level around the picture, 0 to 1

namespace colour {
constexpr ImU32 gray(int v, int alpha = 255) {
  return IM_COL32(v, v, v, alpha);
}
inline constexpr ImU32 panel = gray(30), field = gray(44), field_hover = gray(53), line = gray(48);
inline constexpr ImU32 over_picture = gray(20, 235);  ///< background of text over the picture
// Text has a contrast ratio of at least 4.5 to its background: `faint` on greys up to gray(47), `dim` up to
// gray(62). tests/unit/ui/contrast_test.cpp checks the drawn panels.
inline constexpr ImU32 text = gray(222), dim = gray(170), faint = gray(151);
inline constexpr ImU32 accent = IM_COL32(232, 168, 76, 255), accent_soft = IM_COL32(232, 168, 76, 64);
inline constexpr ImU32 problem = IM_COL32(238, 122, 110, 255);
}  // namespace colour

/// Fonts and scale of the panels. The fonts are owned by the ImGui context's atlas.
struct Look {
  float scale = 1;           ///< ImGui units per logical pixel
  ImFont* text = nullptr;    ///< body text
  ImFont* strong = nullptr;  ///< headings, node names
  ImFont* small = nullptr;   ///< tables and secondary text
  float px(float logical) const { return logical * scale; }
};

/// Calls ImGui::PushFont(), and ImGui::PopFont() at the end of the scope.
struct FontScope {
  explicit FontScope(ImFont* font) { ImGui::PushFont(font); }
  ~FontScope() { ImGui::PopFont(); }
};
/// Calls ImGui::PushStyleVar(), and ImGui::PopStyleVar() at the end of the scope.
struct VarScope {
  VarScope(ImGuiStyleVar which, float value) { ImGui::PushStyleVar(which, value); }
  VarScope(ImGuiStyleVar which, ImVec2 value) { ImGui::PushStyleVar(which, value); }
  ~VarScope() { ImGui::PopStyleVar(); }
};

/// Fills the font atlas and sets the style for `layout_scale` ImGui units per logical pixel. Rasterises
/// glyphs for `raster_scale` framebuffer pixels per logical pixel, which exceeds `layout_scale` if the window
/// system scales. `extra`: characters to add to the base fonts; null: none. The caller must upload the atlas.
Look make_look(ImGuiIO& io, ImGuiStyle& style, float layout_scale, float raster_scale,
               const ExtraGlyphs* extra = nullptr);

}  // namespace lensd::ui
