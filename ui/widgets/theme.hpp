// The look: neutral greys (nothing tinted beside a picture that is judged for colour), one accent, one
// family of type with tabular digits. All sizes are in units of the content scale.
#pragma once

#include <imgui.h>

namespace lensd::ui {

inline constexpr float kSurround = 0.086f;  ///< grey around the picture

namespace colour {
constexpr ImU32 gray(int v, int alpha = 255) {
  return IM_COL32(v, v, v, alpha);
}
inline constexpr ImU32 panel = gray(30), field = gray(44), field_hover = gray(53), line = gray(48);
inline constexpr ImU32 text = gray(222), dim = gray(146), faint = gray(100);
inline constexpr ImU32 accent = IM_COL32(232, 168, 76, 255), accent_soft = IM_COL32(232, 168, 76, 64);
inline constexpr ImU32 problem = IM_COL32(226, 104, 92, 255);
}  // namespace colour

/// Fonts and scale that panels draw with. The fonts belong to the ImGui context's atlas.
struct Look {
  float scale = 1;           ///< ImGui units of one logical pixel
  ImFont* text = nullptr;    ///< body
  ImFont* strong = nullptr;  ///< headings, node names
  ImFont* small = nullptr;   ///< tables and secondary text
  float px(float logical) const { return logical * scale; }
};

/// Fills the atlas and sets the style for `layout_scale` ImGui units a logical pixel, with glyphs drawn for
/// `raster_scale` ≥ layout_scale framebuffer pixels (they differ where the window system scales by itself).
/// The caller uploads the atlas.
Look make_look(ImGuiIO& io, ImGuiStyle& style, float layout_scale, float raster_scale);

}  // namespace lensd::ui
