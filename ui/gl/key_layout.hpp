// What a key means for shortcuts in keyboard layouts without Latin letters. Thread-safe.
#pragma once

#include <string_view>

namespace lensd::ui {

/// Returns the ASCII character that GLFW key `key` types in the US layout, or 0 if it types none.
char32_t us_character(int key, bool shift);

/// Returns true if a layout has Latin letters. `name_of_a`: what the layout types with the key that is A in
/// the US layout, in UTF-8; empty if it is not known.
bool latin_layout(std::string_view name_of_a);

/// Returns a second character to look up if the layout's own character has no shortcut; 0: none. In layouts
/// without Latin letters, returns the key's US character. In other layouts, returns the digit of a digit key
/// with Ctrl or Alt (`modified`), because French layouts type digits only with Shift.
char32_t second_character(int key, bool shift, bool modified, std::string_view name_of_a);

}  // namespace lensd::ui
