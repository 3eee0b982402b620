#include "ui/widgets/theme.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "ui/embedded.hpp"
#include "ui/widgets/extra_glyphs.hpp"

namespace lensd::ui {
namespace {

// Ranges of Latin letters, the panels' punctuation (· × µ – … ≤) and arrows.
constexpr std::array<ImWchar, 15> kGlyphs{0x20,   0x17F,  0x394,  0x394,  0x3BC,  0x3BC,  0x2010, 0x205E,
                                          0x2190, 0x2193, 0x2212, 0x2212, 0x2264, 0x2265, 0};
constexpr std::array<ImWchar, 3> kDigits{'0', '9', 0};

ImFontConfig embedded_config(std::string_view name) {
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  config.OversampleH = 3, config.OversampleV = 1;
  std::snprintf(config.Name, sizeof config.Name, "%.*s", static_cast<int>(name.size()), name.data());
  return config;
}

ImFont* add(ImFontAtlas& atlas, std::string_view name, float size, const ImWchar* ranges,
            ImFontConfig config) {
  const auto bytes = embedded(name);
  // The atlas does not modify the bytes if FontDataOwnedByAtlas is false.
  return atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()),
                                    size, &config, ranges);
}

float digit_advance(std::string_view name, float size) {
  ImFontAtlas atlas;
  const ImFont* font = add(atlas, name, size, kDigits.data(), embedded_config(name));
  atlas.Build();
  float widest = 0;
  for (ImWchar c = '0'; c <= '9'; ++c) widest = std::max(widest, font->GetCharAdvance(c));
  return std::round(widest);
}

/// Adds digits with equal advances, so that changing numbers do not move, then the other glyphs.
ImFont* add_tabular(ImFontAtlas& atlas, std::string_view name, float size) {
  ImFontConfig digits = embedded_config(name);
  digits.GlyphMinAdvanceX = digits.GlyphMaxAdvanceX = digit_advance(name, size);
  ImFont* font = add(atlas, name, size, kDigits.data(), digits);
  ImFontConfig rest = embedded_config(name);
  rest.MergeMode = true;
  add(atlas, name, size, kGlyphs.data(), rest);
  return font;
}

void set_colours(ImGuiStyle& style) {
  using namespace colour;
  const auto set = [&](ImGuiCol which, ImU32 value) {
    style.Colors[which] = ImGui::ColorConvertU32ToFloat4(value);
  };
  ImGui::StyleColorsDark(&style);
  set(ImGuiCol_Text, text), set(ImGuiCol_TextDisabled, dim);
  set(ImGuiCol_WindowBg, panel), set(ImGuiCol_ChildBg, gray(0, 0)), set(ImGuiCol_PopupBg, gray(38));
  set(ImGuiCol_Border, gray(58)), set(ImGuiCol_BorderShadow, gray(0, 0)), set(ImGuiCol_Separator, line);
  set(ImGuiCol_FrameBg, field), set(ImGuiCol_FrameBgHovered, field_hover),
      set(ImGuiCol_FrameBgActive, gray(58));
  set(ImGuiCol_Button, field), set(ImGuiCol_ButtonHovered, gray(60)), set(ImGuiCol_ButtonActive, gray(72));
  set(ImGuiCol_Header, gray(52)), set(ImGuiCol_HeaderHovered, gray(60)), set(ImGuiCol_HeaderActive, gray(68));
  set(ImGuiCol_CheckMark, accent), set(ImGuiCol_SliderGrab, gray(84)), set(ImGuiCol_SliderGrabActive, accent);
  set(ImGuiCol_ScrollbarBg, gray(0, 0)), set(ImGuiCol_ScrollbarGrab, gray(64));
  set(ImGuiCol_ScrollbarGrabHovered, gray(84)), set(ImGuiCol_ScrollbarGrabActive, gray(100));
  set(ImGuiCol_TextSelectedBg, accent_soft);
  set(ImGuiCol_TableHeaderBg, gray(0, 0)), set(ImGuiCol_TableBorderLight, gray(40)),
      set(ImGuiCol_TableBorderStrong, line);
  set(ImGuiCol_TableRowBgAlt, gray(255, 6));
  set(ImGuiCol_ModalWindowDimBg, gray(0, 120));
}

void set_metrics(ImGuiStyle& style) {
  style.WindowPadding = {12, 10}, style.FramePadding = {8, 4}, style.ItemSpacing = {8, 6};
  style.ItemInnerSpacing = {6, 4}, style.CellPadding = {4, 3};
  style.WindowRounding = 0, style.ChildRounding = 4, style.FrameRounding = 3, style.PopupRounding = 4;
  style.GrabRounding = 3, style.ScrollbarRounding = 4, style.ScrollbarSize = 8, style.GrabMinSize = 8;
  style.WindowBorderSize = 0, style.ChildBorderSize = 0, style.PopupBorderSize = 1, style.FrameBorderSize = 0;
  style.DisabledAlpha = 0.8f;  // keeps a contrast of 4.5
  style.WindowMinSize = {1, 1};
}

}  // namespace

Look make_look(ImGuiIO& io, ImGuiStyle& style, float layout_scale, float raster_scale,
               const ExtraGlyphs* extra) {
  io.Fonts->Clear();
  io.FontGlobalScale = layout_scale / raster_scale;
  Look look;
  look.scale = layout_scale;
  const auto font = [&](std::string_view name, float logical) {
    const float size = std::round(logical * raster_scale);
    ImFont* const added = add_tabular(*io.Fonts, name, size);
    if (extra) extra->add_to(*io.Fonts, name, size);
    return added;
  };
  look.text = font("font-text", 15);
  look.strong = font("font-strong", 15);
  look.small = font("font-text", 13);
  if (extra) extra->build(*io.Fonts);
  io.FontDefault = look.text;
  style = ImGuiStyle();
  set_colours(style);
  set_metrics(style);
  style.ScaleAllSizes(layout_scale);
  style.PopupBorderSize = 1;
  return look;
}

}  // namespace lensd::ui
