// Keyboard and mouse input since the last frame, independent of GLFW so that tests can create it.
//
//   GLFW callbacks ──▶ Window ──▶ InputState ──▶ ViewerUi (keys), app (dropped files), ImGuiSession (mouse)
//
// Panels read the mouse from ImGui, which tracks the ImGui window under the pointer. Plain values, used by
// the UI thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lensd::ui {

enum class Key : uint8_t {
  character,
  escape,
  tab,
  backspace,
  left,
  right,
  up,
  down,
  enter,
  remove,
  home,
  end,
  page_up,
  page_down
};

/// One key press, or a repeat of a held key.
struct KeyPress {
  Key key = Key::character;
  char32_t character = 0;  ///< character in the keyboard layout; lower case with Ctrl or Alt
  /// Character to use if no action has `character`; 0: none. See second_character() in ui/gl/key_layout.hpp.
  char32_t second_character = 0;
  bool ctrl = false, alt = false, shift = false, repeat = false;
};

/// Position and buttons of the mouse after a button change. After a drag, a step with the final position
/// comes before the release.
struct MouseStep {
  float x = 0, y = 0;    ///< window system units
  uint32_t buttons = 0;  ///< bit 0: left button down, 1: right, 2: middle …
};

struct InputState {
  std::vector<KeyPress> presses;           ///< key presses since the last frame, in order
  std::vector<std::string> dropped_files;  ///< files dropped since the last frame
  std::vector<MouseStep> mouse_steps;      ///< button changes since the last frame
  uint32_t held_letters = 0;               ///< bit 0: 'a' is held, …; 0 after the window lost the focus

  bool held(char letter) const { return (held_letters >> (letter - 'a') & 1u) != 0; }
  /// Stores that a key was pressed or released. Ignores characters other than a to z. A press with `modified`
  /// (Shift, Ctrl or Alt is down) counts as a release, because it is another key, such as B.
  void hold(char32_t c, bool down, bool modified) {
    if (c < U'a' || c > U'z') return;
    const uint32_t bit = 1u << (c - U'a');
    held_letters = down && !modified ? held_letters | bit : held_letters & ~bit;
  }
};

}  // namespace lensd::ui
