// The viewer's panels without a display: a separate ImGui context with simulated mouse and keyboard.
//   point(), button(), press() … ──▶ frame() ──▶ commands and requests ──▶ follow(), as the program would
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/ui/sample_model.hpp"
#include "ui/viewer_ui.hpp"

namespace lensd::ui {

class PanelDriver : public ::testing::Test {
 protected:
  using Commands = std::vector<Command>;

  // Defined in the .cpp file, because inline copies in every test take long to compile.
  PanelDriver();
  ~PanelDriver() override;
  void SetUp() override;
  void TearDown() override;

  /// Called after each frame with its commands, to simulate what the program does. Does nothing by default.
  virtual void follow(const Commands&) {}

  /// Runs one display frame. The returned commands are valid until the next one.
  const Commands& frame(const InputState& input = {});
  void frames(int count);
  /// Makes the window high enough for all panels.
  void show_all_panels();
  /// Shows the model's numbers after a change.
  void redraw() { ++model.timings_version, frames(3); }

  // Mouse events for the next frame; buttons have ImGui's numbers.
  void point(float x, float y);
  void button(bool down, int which = 0);
  void wheel(float by);
  void set_ctrl(bool held);

  bool there(const std::string& widget) const;
  /// Returns where a widget was last drawn. Fails if it was not drawn.
  Rect rect(const std::string& widget) const;
  /// Moves the pointer to a widget. `at`: horizontal position as a fraction of its width.
  void point_at(const std::string& widget, float at = 0.5f);
  /// Clicks on a widget. The returned commands are valid until the next frame.
  const Commands& click(const std::string& widget, int which = 0, float at = 0.5f);
  /// Clicks on a widget. Returns the requests of the frame in which the button was released.
  const ViewerRequests& requests_of_click(const std::string& widget);
  /// Moves the pointer to the centre of a picture pixel.
  void point_at_pixel(int x, int y);
  /// Rests the pointer on a widget until its tooltip is drawn.
  void hover(const std::string& widget, float at = 0.5f);

  /// A text as it was drawn in one line and one colour. Two blanks in a row end it.
  struct DrawnText {
    std::string text;
    ImU32 colour = 0;
    float x = 0, y = 0;  ///< left end, and the line's top
    float end = 0;       ///< right end
  };
  /// Returns all texts of the last frame, from their glyphs' vertices.
  std::vector<DrawnText> drawn_texts() const;
  /// Returns the first of them that is exactly `text`, or nullopt if it was not drawn.
  std::optional<DrawnText> drawn(const std::string& text) const;
  /// Returns true if a text of the last frame begins with `begin`, as of a tooltip whose lines may be
  /// wrapped.
  bool drawn_from(const std::string& begin) const;
  /// Returns the colour of the first text that is exactly `text`. Fails if it was not drawn.
  ImU32 ink_of(const std::string& text) const;
  /// Returns the vertices of a colour in the last frame, in the order in which they were drawn.
  std::vector<ImVec2> points_of(ImU32 colour) const;

  const Commands& press(KeyPress key);
  const Commands& type(char32_t c, bool alt = false) { return press({.character = c, .alt = alt}); }
  /// Types into the focused field, one character per frame.
  void type(const char* text);
  /// Types all characters for the next frame, as on a slow machine. Each one is between key press and
  /// release.
  void type_at_once(const char* text);

  Look look;
  ViewerUi viewer;
  ViewerModel model = test::sample_model();

 private:
  Commands last_, since_click_;
};

/// Returns the only command if it is a C, otherwise null. Ignores the EditMark that follows an edit.
template <class C>
const C* only(const std::vector<Command>& commands) {
  const bool marked = commands.size() == 2 && std::holds_alternative<EditMark>(commands.back());
  return commands.size() == 1 || marked ? std::get_if<C>(&commands.front()) : nullptr;
}

}  // namespace lensd::ui
