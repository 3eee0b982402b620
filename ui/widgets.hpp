// Building blocks of the panels: a control for any parameter, icon buttons, aligned numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/param.hpp"
#include "ui/theme.hpp"

namespace lensd::ui {

/// A text that is being typed. ImGui activates one text field at a time, so one is enough; the model goes on
/// delivering the old value until the edit is finished.
struct TextEdit {
  unsigned id = 0;
  std::string text;
};

/// The control for one parameter, as wide as there is room. The new value when the user changed it, already
/// accepted by spec.check(). Right click or double click gives the default; Ctrl+click types a number.
std::optional<ParamValue> param_control(const Look& look, const ParamSpec& spec, const ParamValue& value,
                                        TextEdit& edit);

/// BeginCombo() in the panels' look, as wide as the next item; EndCombo() follows when it is true.
bool begin_combo(const Look& look, const char* id, const std::string& shown);

/// "3", "1.60", as a slider shows it.
std::string shown_value(const ParamSpec& spec, const ParamValue& value);

enum class Icon : uint8_t {
  play,
  pause,
  step_back,
  step_forward,
  chevron_left,
  chevron_right,
  chevron_down,
  chevron_up,
  loop
};

/// A square button without a frame until hovered. `id` is an ImGui id.
bool icon_button(const Look& look, const char* id, Icon icon, bool accent = false);
void draw_icon(ImDrawList& list, ImVec2 centre, float size, Icon icon, ImU32 colour);

/// Section heading in the strong font.
void heading(const Look& look, const char* text);
void text_coloured(ImU32 colour, std::string_view text);
/// Ends at the right edge of the room that is left.
void text_right(ImU32 colour, std::string_view text);
/// Tooltip of the last item after a short rest, wrapped; `key` in dim type.
void tooltip(const Look& look, std::string_view text, std::string_view key = {});
/// A string that ends in "…" where it would be wider than `width`.
std::string elided(std::string_view text, float width);

/// "00:12.480", "1:02:03.480". Negative is shown as zero.
std::string clock_text(int64_t ns, bool hours);
/// Five characters for 0 to 9999 ms: "0.123", "12.34", "123.4".
std::string ms_text(int64_t ns);

}  // namespace lensd::ui
