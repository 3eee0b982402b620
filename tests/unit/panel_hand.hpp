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

  // Compiled once, as is what happens to commands: they are large, and every test would have them inline.
  PanelHand();
  ~PanelHand() override;
  void SetUp() override;
  void TearDown() override;

  /// What the program does behind each frame; nothing here.
  virtual void follow(const Commands&) {}

  /// One display frame; the commands that it gave, which last until the next one.
  const Commands& frame(const InputState& input = {});
  void frames(int count);

  // The mouse, as the next frame will see it; buttons as ImGui numbers them.
  void point(float x, float y);
  void button(bool down, int which = 0);
  void wheel(float by);

  bool there(const std::string& widget) const;
  /// Where a widget was drawn last; it must have been.
  Rect rect(const std::string& widget) const;
  /// Moves to a widget: `at` is the fraction of its width.
  void point_at(const std::string& widget, float at = 0.5f);
  /// Moves to a widget, presses and releases; all commands of it, which last until the next frame.
  const Commands& click(const std::string& widget, int which = 0, float at = 0.5f);

  const Commands& press(KeyPress key);
  const Commands& type(char32_t c, bool alt = false) { return press({.character = c, .alt = alt}); }
  /// Into the field that has the keyboard.
  void type(const char* text);
  /// The same before the next frame comes, as on a slow machine: keys go down and up around each character.
  void type_at_once(const char* text);

  Look look;
  ViewerUi viewer;
  ViewerModel model = test::sample_model();

 private:
  Commands last_, since_click_;
};

/// The one command; an edit is followed by its mark.
template <class C>
const C* only(const std::vector<Command>& commands) {
  const bool marked = commands.size() == 2 && std::holds_alternative<EditMark>(commands.back());
  return commands.size() == 1 || marked ? std::get_if<C>(&commands.front()) : nullptr;
}

}  // namespace lensd::ui
