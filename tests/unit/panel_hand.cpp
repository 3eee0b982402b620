#include "tests/unit/panel_hand.hpp"

namespace lensd::ui {

void PanelHand::SetUp() {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {1280, 720};
  io.DisplayFramebufferScale = {1, 1};
  look = make_look(io, ImGui::GetStyle(), 1, 1);
  io.Fonts->Build();
  viewer.track_widgets(true);
}

void PanelHand::TearDown() {
  ImGui::DestroyContext();
}

PanelHand::Commands PanelHand::frame(const InputState& input) {
  ImGui::GetIO().DeltaTime = 1.f / 60;
  Commands out;
  ImGui::NewFrame();
  viewer.draw(model, input, look, out);
  ImGui::Render();
  follow(out);
  return out;
}

PanelHand::Commands PanelHand::frames(int count) {
  Commands all;
  for (int i = 0; i < count; ++i)
    for (Command& command : frame()) all.push_back(std::move(command));
  return all;
}

void PanelHand::point(float x, float y) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddMousePosEvent(x, y);
#else
  ImGui::GetIO().MousePos = {x, y};
#endif
}

void PanelHand::button(bool down, int which) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddMouseButtonEvent(which, down);
#else
  ImGui::GetIO().MouseDown[which] = down;
#endif
}

void PanelHand::wheel(float by) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddMouseWheelEvent(0, by);
#else
  ImGui::GetIO().MouseWheel = by;
#endif
}

bool PanelHand::there(const std::string& widget) const {
  return viewer.widget_rects().count(widget) > 0;
}

Rect PanelHand::rect(const std::string& widget) const {
  EXPECT_TRUE(there(widget)) << widget;
  return there(widget) ? viewer.widget_rects().at(widget) : Rect{};
}

PanelHand::Commands PanelHand::point_at(const std::string& widget, float at) {
  const Rect r = rect(widget);
  point(r.x + r.w * at, r.y + r.h * 0.5f);
  return frames(2);
}

PanelHand::Commands PanelHand::click(const std::string& widget, int which, float at) {
  frames(3);  // a scroll bar shows from the second one on
  if (!there(widget)) {
    ADD_FAILURE() << "nowhere to click: " << widget;
    return {};
  }
  Commands all = point_at(widget, at);
  const auto add = [&](const Commands& some) { all.insert(all.end(), some.begin(), some.end()); };
  button(true, which), add(frame());
  button(false, which), add(frames(2));
  return all;
}

PanelHand::Commands PanelHand::press(KeyPress key) {
  InputState input;
  input.presses.push_back(key);
  return frame(input);
}

void PanelHand::type(const char* text) {
  for (const char* c = text; *c; ++c)
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(*c)), frame();
  frame();
}

}  // namespace lensd::ui
