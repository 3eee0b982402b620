// Widgets of the panels, for example a control for any parameter, icon buttons and aligned text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/param.hpp"
#include "core/pipeline/live_status.hpp"
#include "ui/widgets/theme.hpp"

namespace lensd::ui {

/// The text of the active text field. The model keeps the old value until the edit is finished. One TextEdit
/// is enough, because ImGui activates one field at a time.
struct TextEdit {
  unsigned id = 0;  ///< ImGui id of the field; 0: none
  std::string text;
  bool number = false;                    ///< the field replaces a slider
  bool focus = false;                     ///< set the keyboard focus to the field
  bool drawn = false;                     ///< the field was drawn in the last frame
  bool entered = false, escaped = false;  ///< Enter or Escape was pressed since the last frame
  unsigned left = 0;                      ///< field that lost the focus in this frame to one drawn before it
  std::string left_text;                  ///< text of that field; drawing the field applies it
  unsigned refused = 0;                   ///< field of the last refused value; 0: none
  std::string refusal;                    ///< why it was refused
};

/// Called after a part of a control was drawn, to record the last item's rectangle under `part`.
using MarkPart = std::function<void(std::string_view part)>;

/// Draws the control of a parameter with ImGui's next item width. Returns a new valid value if the user
/// changed it, else nullopt. A right click (not on a matrix) or a double click on a slider restores the
/// default. Ctrl+click lets the user type a number. Shift and the mouse wheel change a number by fine steps.
/// `mark` is called for parts such as choices and cells, and may be empty. Below the control, draws why the
/// last value was refused, as the part "refused".
std::optional<ParamValue> param_control(const Look& look, const ParamSpec& spec, const ParamValue& value,
                                        TextEdit& edit, const MarkPart& mark = {});
/// The two parts of param_control(), for callers that draw something between them. draw_refusal() first
/// discards the refusal if `settled` is true: the value has changed since the refusal.
std::optional<ParamValue> param_field(const Look& look, const ParamSpec& spec, const ParamValue& value,
                                      TextEdit& edit, const MarkPart& mark = {});
void draw_refusal(TextEdit& edit, bool settled, const MarkPart& mark);

/// Makes `id` the active field. Keeps the text of the field before it in TextEdit::left_text.
void begin_field(TextEdit& edit, unsigned id);
/// Begins to type a number into the slider `id`. param_field() then calls typed_number() until edit.id is 0.
void begin_typing(TextEdit& edit, unsigned id, const ParamValue& value);
/// Draws the field for a typed number. Enter or a click elsewhere ends typing, Escape cancels. Returns the
/// new value, or nullopt if there is none. If a value is not allowed, stores the reason in `edit`.
std::optional<ParamValue> typed_number(const Look& look, const ParamSpec& spec, const ParamValue& value,
                                       TextEdit& edit);
/// Returns the number in `text`, or nullopt if it is `value`. If it is not allowed, also stores the reason
/// for field `id` in `edit`.
std::optional<ParamValue> entered_number(const ParamSpec& spec, const ParamValue& value,
                                         const std::string& text, unsigned id, TextEdit& edit);

/// Returns the value changed by `steps` fine steps. A step is 1 for integers, 2 for odd integers, and for
/// real numbers a power of ten: at most 1/1000 of the range, or 1 % of the value for a logarithmic slider,
/// but at least one unit of the last shown decimal.
ParamValue stepped(const ParamSpec& spec, const ParamValue& value, int steps);

/// Draws a matrix as a grid of numbers, with its size and preset kernels above. Returns the new value
/// if the user changed it, else nullopt.
std::optional<ParamValue> matrix_control(const Look& look, const ParamSpec& spec, const Matrix& value,
                                         const MarkPart& mark);

/// ImGui::BeginCombo() in the panels' style. Call ImGui::EndCombo() if it returns true.
bool begin_combo(const Look& look, const char* id, const std::string& shown);

/// Returns the value as a slider shows it: "3", "1.60 px".
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
  folder,
  speaker,
  speaker_off,
};

/// Draws a square button, with a background only while hovered. `accent`: draw the icon in the accent colour.
/// Returns true if it was pressed.
bool icon_button(const Look& look, const char* id, Icon icon, bool accent = false);
void draw_icon(ImDrawList& list, ImVec2 centre, float size, Icon icon, ImU32 colour);

/// Draws an icon button with a side of `side` logical pixels and the colour `ink` while not hovered.
bool small_button(const Look& look, const char* id, Icon icon, float side, ImU32 ink);

/// Draws a text button, `width` ImGui units wide and highlighted if `on`. Returns true if it was pressed.
bool toggle_button(const Look& look, const char* label, bool on, float width);

/// ImGui::InputText() on a std::string. Shows `hint` while the text is empty.
bool input_text(const char* id, std::string& text, int flags = 0, const char* hint = "",
                ImGuiInputTextCallback callback = nullptr, void* data = nullptr);

/// Places the next popup at `corner`, or higher if the window would cut it. `height`: the popup's height in
/// the last frame, in ImGui units.
void place_popup(const Look& look, ImVec2 corner, float height);

/// If `on`, dims the items that are drawn in its scope. Grey text keeps a contrast of at least 4.5; fills and
/// lines come close to the panel's grey.
class DimScope {
 public:
  explicit DimScope(bool on);
  ~DimScope();
  DimScope(const DimScope&) = delete;
  DimScope& operator=(const DimScope&) = delete;

 private:
  const bool on_;
};
/// Returns the colour as it is in the current DimScope, for ImGui::PushStyleColor().
ImU32 toned(ImU32 ink);
/// Returns toned() with the style's alpha, for hand-drawn items that may be disabled.
ImU32 styled(ImU32 ink);

/// Draws a section heading in the strong font.
void heading(const Look& look, const char* text);
void text_coloured(ImU32 colour, std::string_view text);
void small_text(const Look& look, ImU32 colour, std::string_view text);
/// Draws text that wraps at the right edge of the window.
void wrapped_text(ImU32 colour, std::string_view text);
/// Returns the colour of a live source's state: neutral while playing.
ImU32 state_colour(LiveState state);
/// Draws a small dot in state_colour(). The next item follows on the same line.
void state_dot(const Look& look, LiveState state);
/// Returns the state as text: "playing for 0:12 · 23 ms behind · 2 reconnects · 1 stall". Omits zero counts.
std::string live_text(const LiveStatus& live, int64_t time_ns);
/// Returns a short form of live_text(): "playing · 23 ms behind", "stalled for 0:02".
std::string live_text_brief(const LiveStatus& live, int64_t time_ns);
/// Returns a duration as text: "0:07", "2:15:03".
std::string brief_time(int64_t ns);
/// Returns "live" while playing, else the state's name.
const char* state_word(LiveState state);

/// Draws text that is right-aligned in the remaining width.
void text_right(ImU32 colour, std::string_view text);
/// Shows a wrapped tooltip for the last item after a short delay. `key` is appended in a dim colour.
void tooltip(const Look& look, std::string_view text, std::string_view key = {});
/// Returns true if the last item's tooltip is visible now. Use it to avoid formatting hidden text.
bool tooltip_due();
/// Returns the text on one line, cut with "…" if it is wider than `width` ImGui units. Line breaks, as in
/// names of files, become spaces.
std::string elided(std::string_view text, float width);
/// Returns the text in lines of at most `width` ImGui units. Breaks at spaces. Breaks a word that is wider
/// than a line after a slash, or anywhere if it has none.
std::string wrapped(std::string_view text, float width);
/// Like elided(), but cuts at the front, for paths.
std::string elided_front(std::string_view text, float width);
/// Like elided(), but measures in the strong font.
std::string elided_heading(const Look& look, std::string_view text, float width);

/// Returns a time such as "00:12.480". Shows hours ("0:00:12.480") if `hours` is true or the time is at least
/// an hour. Shows negative values as zero.
std::string clock_text(int64_t ns, bool hours);
/// Returns milliseconds in at most five characters for times below 100 s: "0.123", "12.34", "123.4", "1234".
std::string ms_text(int64_t ns);
/// Returns a number of bytes in MiB, for example "84.4 MiB".
std::string memory_text(size_t bytes);
inline float share(int64_t part, int64_t whole) {
  return static_cast<float>(static_cast<double>(part) / static_cast<double>(whole));
}
/// Returns a count with its noun: "1 drop", "2 drops".
std::string count_text(uint64_t count, const char* singular);

}  // namespace lensd::ui
