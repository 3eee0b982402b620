// What keyboard and mouse did since the last frame, free of GLFW so that tests can make it by hand.
//
//   GLFW callbacks ──▶ Window ──▶ InputState ──▶ ViewerUi (keys), app (dropped files), ImGuiSession (mouse)
//
// Panels read the mouse from ImGui, which knows when one wants it. UI thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lensd::ui {

enum class Key : uint8_t { character, escape, tab, backspace, left, right, up, down, enter, remove };

/// One press, or a repeat of a held key.
struct KeyPress {
  Key key = Key::character;
  char32_t character = 0;  ///< as the keyboard layout gives it; lower case with Ctrl or Alt
  bool ctrl = false, alt = false, shift = false, repeat = false;
};

/// The mouse at one moment.
struct MouseStep {
  float x = 0, y = 0;    ///< in the window system's units
  uint32_t buttons = 0;  ///< bit 0: the left one is down, 1: the right one, 2: the middle one …
};

struct InputState {
  std::vector<KeyPress> presses;           ///< in order, since the last frame
  std::vector<std::string> dropped_files;  ///< since the last frame
  std::vector<MouseStep> mouse_steps;      ///< since the last frame: changes of buttons
  uint32_t held_letters = 0;               ///< bit 0: 'a' …; cleared when the window loses focus

  bool held(char letter) const { return (held_letters >> (letter - 'a') & 1u) != 0; }
};

}  // namespace lensd::ui
