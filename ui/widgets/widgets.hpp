// Building blocks of the panels: a control for any parameter, icon buttons, aligned numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/param.hpp"
#include "core/media/live_status.hpp"
#include "ui/widgets/theme.hpp"

namespace lensd::ui {

/// A text that is being typed. ImGui activates one text field at a time, so one is enough; the model goes on
/// delivering the old value until the edit is finished.
struct TextEdit {
  unsigned id = 0;
  std::string text;
};

/// Called after a part of a control was drawn: notes where ImGui's last item is under the part's name.
using MarkPart = std::function<void(std::string_view part)>;

/// The control for one parameter, as wide as the next item. The new value when the user changed it, already
/// accepted by spec.check(). Right click or double click gives the default; Ctrl+click types a number; Shift
/// and the wheel go in fine steps. `mark` is told of choices and cells, and may be empty.
std::optional<ParamValue> param_control(const Look& look, const ParamSpec& spec, const ParamValue& value,
                                        TextEdit& edit, const MarkPart& mark = {});

/// The value `steps` fine steps on: whole numbers by one (odd ones by two), others by what is just visible.
ParamValue stepped(const ParamSpec& spec, const ParamValue& value, int steps);

/// A matrix as a grid of numbers with its size and ready kernels above (ui/widgets/matrix_grid.cpp).
std::optional<ParamValue> matrix_control(const Look& look, const ParamSpec& spec, const Matrix& value,
                                         const MarkPart& mark);

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
  loop,
  plus,
  minus,
  cross,
  dots,
  save,
  undo,
  redo,
  folder
};

/// A square button without a frame until hovered. `id` is an ImGui id.
bool icon_button(const Look& look, const char* id, Icon icon, bool accent = false);
void draw_icon(ImDrawList& list, ImVec2 centre, float size, Icon icon, ImU32 colour);

/// A small square button of `side` logical pixels without a frame until hovered; `ink` where not hovered.
bool small_button(const Look& look, const char* id, Icon icon, float side, ImU32 ink);

/// ImGui::InputText() over a std::string; `hint` in dim type while it is empty.
bool input_text(const char* id, std::string& text, int flags = 0, const char* hint = "");

/// A colour with the style's alpha, for drawing by hand what may be disabled.
inline ImU32 styled(ImU32 ink) {
  return ImGui::GetColorU32(ink);
}

/// Section heading in the strong font.
void heading(const Look& look, const char* text);
void text_coloured(ImU32 colour, std::string_view text);
/// What a live source's state is drawn in: neutral while it plays.
ImU32 state_colour(LiveState state);
/// A small dot of that colour in the line that follows.
void state_dot(const Look& look, LiveState state);
/// "playing for 0:12 · 23 ms behind · 2 reconnects · 1 stall"; what is nothing is left out.
std::string live_text(const LiveStatus& live, int64_t time_ns);
/// The same where room is scarce: "playing · 23 ms behind", "stalled for 0:02".
std::string live_text_brief(const LiveStatus& live, int64_t time_ns);
/// "0:07", "2:15:03".
std::string brief_time(int64_t ns);
/// "live" while it plays, else the state's name.
const char* state_word(LiveState state);

/// Ends at the right edge of the room that is left.
void text_right(ImU32 colour, std::string_view text);
/// Tooltip of the last item after a short rest, wrapped; `key` in dim type.
void tooltip(const Look& look, std::string_view text, std::string_view key = {});
/// True when the last item's tooltip is to be seen now: for texts that are only made then.
bool tooltip_due();
/// A string that ends in "…" where it would be wider than `width`.
std::string elided(std::string_view text, float width);
/// Lines no wider than `width`, which break at blanks, in a longer word behind a slash, else anywhere.
std::string wrapped(std::string_view text, float width);
/// The same with "…" at its front, for paths, whose ends say more.
std::string elided_front(std::string_view text, float width);
/// As elided(), in the strong font.
std::string elided_heading(const Look& look, std::string_view text, float width);

/// "00:12.480", "1:02:03.480". Negative is shown as zero.
std::string clock_text(int64_t ns, bool hours);
/// Five characters for 0 to 9999 ms: "0.123", "12.34", "123.4".
std::string ms_text(int64_t ns);

}  // namespace lensd::ui
