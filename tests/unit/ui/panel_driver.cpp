#include "tests/unit/ui/panel_driver.hpp"

#include <imgui_internal.h>

#include <cmath>
#include <map>
#include <utility>

namespace lensd::ui {

PanelDriver::PanelDriver() = default;
PanelDriver::~PanelDriver() = default;

void PanelDriver::SetUp() {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {1280, 720};
  io.DisplayFramebufferScale = {1, 1};
  look = make_look(io, ImGui::GetStyle(), 1, 1);
  io.Fonts->Build();
  viewer.track_widgets(true);
}

void PanelDriver::TearDown() {
  ImGui::DestroyContext();
}

const PanelDriver::Commands& PanelDriver::frame(const InputState& input) {
  ImGui::GetIO().DeltaTime = 1.f / 60;
  last_.clear();
  ImGui::NewFrame();
  viewer.draw(model, input, look, last_);
  ImGui::Render();
  since_click_.insert(since_click_.end(), last_.begin(), last_.end());
  follow(last_);
  return last_;
}

void PanelDriver::frames(int count) {
  for (int i = 0; i < count; ++i) frame();
}

void PanelDriver::show_all_panels() {
  ImGui::GetIO().DisplaySize = {1280, 1400};
  frames(3);
}

void PanelDriver::point(float x, float y) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddMousePosEvent(x, y);
#else
  ImGui::GetIO().MousePos = {x, y};
#endif
}

void PanelDriver::button(bool down, int which) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddMouseButtonEvent(which, down);
#else
  ImGui::GetIO().MouseDown[which] = down;
#endif
}

void PanelDriver::wheel(float by) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddMouseWheelEvent(0, by);
#else
  ImGui::GetIO().MouseWheel = by;
#endif
}

void PanelDriver::set_ctrl(bool held) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, held);
#else
  ImGui::GetIO().KeyCtrl = held;
#endif
}

bool PanelDriver::there(const std::string& widget) const {
  return viewer.widget_rects().count(widget) > 0;
}

Rect PanelDriver::rect(const std::string& widget) const {
  EXPECT_TRUE(there(widget)) << widget;
  return there(widget) ? viewer.widget_rects().at(widget) : Rect{};
}

void PanelDriver::point_at(const std::string& widget, float at) {
  const Rect r = rect(widget);
  point(r.x + r.w * at, r.y + r.h * 0.5f);
  frames(2);
}

const PanelDriver::Commands& PanelDriver::click(const std::string& widget, int which, float at) {
  frames(3);  // a scroll bar appears from the second frame on
  since_click_.clear();
  if (!there(widget)) {
    ADD_FAILURE() << "nowhere to click: " << widget;
    return since_click_;
  }
  point_at(widget, at);
  button(true, which), frame();
  button(false, which), frames(2);
  return since_click_;
}

const ViewerRequests& PanelDriver::requests_of_click(const std::string& widget) {
  point_at(widget);
  button(true), frame();
  button(false), frame();
  return viewer.requests();
}

void PanelDriver::point_at_pixel(int x, int y) {
  const Rect p = place(model.picture, viewer.picture_rect(), viewer.view()).picture;
  point(p.x + (static_cast<float>(x) + 0.5f) * p.w / static_cast<float>(model.picture.width),
        p.y + (static_cast<float>(y) + 0.5f) * p.h / static_cast<float>(model.picture.height));
  frames(2);
}

void PanelDriver::hover(const std::string& widget, float at) {
  point(640, 300), frames(3);  // a tooltip that a click has hidden needs a movement
  point_at(widget, at);
  frames(40);
}

std::vector<PanelDriver::DrawnText> PanelDriver::drawn_texts() const {
  // Glyphs by the texture coordinates of their left upper corner.
  std::map<std::pair<float, float>, std::pair<const ImFont*, const ImFontGlyph*>> glyphs;
  for (const ImFont* font : ImGui::GetIO().Fonts->Fonts)
    for (const ImFontGlyph& glyph : font->Glyphs)
      if (glyph.Visible) glyphs[std::pair(glyph.U0, glyph.V0)] = std::pair(font, &glyph);
  std::vector<DrawnText> texts;
  const ImDrawData& data = *ImGui::GetDrawData();
  for (int i = 0; i < data.CmdListsCount; ++i) {
    const ImVector<ImDrawVert>& vertices = data.CmdLists[i]->VtxBuffer;
    const ImFont* last = nullptr;
    for (int v = 0; v + 3 < vertices.Size; ++v) {
      const ImDrawVert& corner = vertices[v];
      const auto found = glyphs.find(std::pair(corner.uv.x, corner.uv.y));
      if (found == glyphs.end()) {
        last = nullptr;
        continue;
      }
      const ImFont* font = found->second.first;
      const ImFontGlyph& glyph = *found->second.second;
      const float x = corner.pos.x - glyph.X0, y = corner.pos.y - glyph.Y0;
      const bool same_line =
          font == last && corner.col == texts.back().colour && std::abs(y - texts.back().y) < 0.5f;
      const float gap = same_line ? x - texts.back().end : 0;
      const bool after_blank = same_line && std::abs(gap - font->GetCharAdvance(' ')) < 0.5f;
      if (after_blank)
        texts.back().text += ' ';
      else if (!same_line || std::abs(gap) >= 0.5f)
        texts.push_back({"", corner.col, x, y, x});
      char character[5];
      texts.back().text += ImTextCharToUtf8(character, glyph.Codepoint);
      texts.back().end = x + glyph.AdvanceX;
      last = font;
      v += 3;  // the glyph's other corners
    }
  }
  return texts;
}

std::optional<PanelDriver::DrawnText> PanelDriver::drawn(const std::string& text) const {
  for (DrawnText& one : drawn_texts())
    if (one.text == text) return std::move(one);
  return std::nullopt;
}

bool PanelDriver::drawn_from(const std::string& begin) const {
  for (const DrawnText& one : drawn_texts())
    if (one.text.starts_with(begin)) return true;
  return false;
}

ImU32 PanelDriver::ink_of(const std::string& text) const {
  const std::optional<DrawnText> found = drawn(text);
  EXPECT_TRUE(found) << "not drawn: " << text;
  return found ? found->colour : 0;
}

std::vector<ImVec2> PanelDriver::points_of(ImU32 colour) const {
  std::vector<ImVec2> points;
  const ImDrawData& data = *ImGui::GetDrawData();
  for (int i = 0; i < data.CmdListsCount; ++i)
    for (const ImDrawVert& vertex : data.CmdLists[i]->VtxBuffer)
      if (vertex.col == colour) points.push_back(vertex.pos);
  return points;
}

const PanelDriver::Commands& PanelDriver::press(KeyPress key) {
  InputState input;
  input.presses.push_back(key);
  return frame(input);
}

void PanelDriver::type_at_once(const char* text) {
  for (const char* c = text; *c; ++c) {
#if IMGUI_VERSION_NUM >= 18700
    const auto key = static_cast<ImGuiKey>(ImGuiKey_A + (*c - 'a') % 26);
    ImGui::GetIO().AddKeyEvent(key, true);
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(*c));
    ImGui::GetIO().AddKeyEvent(key, false);
#else
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(*c));
#endif
  }
}

void PanelDriver::type(const char* text) {
  for (const char* c = text; *c; ++c)
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(*c)), frame();
  frame();
}

}  // namespace lensd::ui
