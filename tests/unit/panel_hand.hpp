// The viewer's panels without a display: an ImGui context of its own, and a hand on the mouse and the keys.
//   point(), button(), press() … ──▶ frame() ──▶ commands and requests ──▶ follow(), as the program would
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/ui_model.hpp"
#include "ui/viewer_ui.hpp"

namespace lensd::ui {

class PanelHand : public ::testing::Test {
 protected:
  using Commands = std::vector<Command>;

  void SetUp() override {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {1280, 720};
    io.DisplayFramebufferScale = {1, 1};
    look = make_look(io, ImGui::GetStyle(), 1, 1);
    io.Fonts->Build();
    viewer.track_widgets(true);
  }
  void TearDown() override { ImGui::DestroyContext(); }

  /// What the program does behind each frame; nothing here.
  virtual void follow(const Commands&) {}

  /// One display frame; the commands that it gave.
  Commands frame(const InputState& input = {}) {
    ImGui::GetIO().DeltaTime = 1.f / 60;
    Commands out;
    ImGui::NewFrame();
    viewer.draw(model, input, look, out);
    ImGui::Render();
    follow(out);
    return out;
  }
  Commands frames(int count) {
    Commands all;
    for (int i = 0; i < count; ++i)
      for (Command& command : frame()) all.push_back(std::move(command));
    return all;
  }

  // The mouse, as the next frame will see it; buttons as ImGui numbers them.
  void point(float x, float y) {
#if IMGUI_VERSION_NUM >= 18700
    ImGui::GetIO().AddMousePosEvent(x, y);
#else
    ImGui::GetIO().MousePos = {x, y};
#endif
  }
  void button(bool down, int which = 0) {
#if IMGUI_VERSION_NUM >= 18700
    ImGui::GetIO().AddMouseButtonEvent(which, down);
#else
    ImGui::GetIO().MouseDown[which] = down;
#endif
  }
  void wheel(float by) {
#if IMGUI_VERSION_NUM >= 18700
    ImGui::GetIO().AddMouseWheelEvent(0, by);
#else
    ImGui::GetIO().MouseWheel = by;
#endif
  }

  bool there(const std::string& widget) const {
    return viewer.widget_rects().count(widget) > 0;
  }
  /// Where a widget was drawn last; it must have been.
  Rect rect(const std::string& widget) const {
    EXPECT_TRUE(there(widget)) << widget;
    return there(widget) ? viewer.widget_rects().at(widget) : Rect{};
  }
  /// Moves to a widget: `at` is the fraction of its width.
  Commands point_at(const std::string& widget, float at = 0.5f) {
    const Rect r = rect(widget);
    point(r.x + r.w * at, r.y + r.h * 0.5f);
    return frames(2);
  }
  /// Moves to a widget, presses and releases; all commands of it.
  Commands click(const std::string& widget, int which = 0, float at = 0.5f) {
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

  Commands press(KeyPress key) {
    InputState input;
    input.presses.push_back(key);
    return frame(input);
  }
  Commands type(char32_t c, bool alt = false) {
    return press({.character = c, .alt = alt});
  }
  /// Into the field that has the keyboard.
  void type(const char* text) {
    for (const char* c = text; *c; ++c)
      ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(*c)), frame();
    frame();
  }

  Look look;
  ViewerUi viewer;
  ViewerModel model = test::sample_model();
};

/// The one command; an edit is followed by its mark.
template <class C>
const C* only(const std::vector<Command>& commands) {
  const bool marked = commands.size() == 2 && std::holds_alternative<EditMark>(commands.back());
  return commands.size() == 1 || marked ? std::get_if<C>(&commands.front()) : nullptr;
}

}  // namespace lensd::ui
