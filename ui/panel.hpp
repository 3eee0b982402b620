// The interface between panels and program: the model to read, the commands to append, and the UI's state.
//
// A panel is a function in ui/panels, called once per display frame between ImGui's NewFrame and Render.
#pragma once

#include <fmt/format.h>

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/model/compare.hpp"
#include "ui/model/crop_edit.hpp"
#include "ui/model/graph_editor.hpp"
#include "ui/model/input.hpp"
#include "ui/model/model.hpp"
#include "ui/model/placement.hpp"
#include "ui/model/preset_shelf.hpp"
#include "ui/model/timing_rows.hpp"
#include "ui/widgets/rect.hpp"
#include "ui/widgets/theme.hpp"
#include "ui/widgets/widgets.hpp"

namespace lensd::ui {

inline constexpr float kMinSideWidth = 200, kMaxSideWidth = 560;  ///< logical pixels

/// Whether a side of the window is folded; `automatic`: only in small windows.
enum class Fold : uint8_t { automatic, open, folded };

/// State of the scopes panel. The panel paints waveforms, parades and vectorscopes into `pixels`. The viewer
/// uploads the pixels to `texture`.
struct ScopesState {
  bool open = false;
  std::string node;  ///< measured node; empty: the graph's output
  ScopeKind kind = ScopeKind::histogram;
  bool log = false;              ///< logarithmic heights of the histogram
  std::vector<uint32_t> pixels;  ///< RGBA8, rows from the top
  Extent size;                   ///< size of `pixels`
  uint64_t paintings = 0;        ///< how often `pixels` was painted
  uint64_t version = 0;          ///< ViewerModel::scope_version for which `pixels` or `peak` was computed
  double peak = 0;               ///< count at the histogram's full height, a moving average
  unsigned texture = 0;          ///< GL name; 0: no texture (in tests)
};

/// The value that a track's colour represents.
enum class TrackColour : uint8_t { age, residual, motion };

struct TracksState {
  bool overlay = true, trails = true;
  bool open = false;  ///< the tracks section is unfolded
  bool fit = true;    ///< the tracks have the positions of the shown picture
  TrackColour colour = TrackColour::age;
};

/// The thumbnail beside the pointer on the seek bar.
struct ThumbnailState {
  int64_t wanted_ns = -1;  ///< position under the pointer; negative: the pointer is elsewhere
  unsigned texture = 0;    ///< GL name of ViewerModel::thumbnail; 0: no texture (in tests)
};

/// State of the pixel probe, which shows the values of the pixel under the pointer.
struct ProbeState {
  bool on = false;
  bool over = false;  ///< the pointer is over the picture
  int x = 0, y = 0;   ///< picture pixel under the pointer
  /// Visible rectangle in picture pixels. Empty if the magnification is too low for the pixel grid.
  int patch_x = 0, patch_y = 0;
  Extent patch;
};

/// State of the rectangle that is edited on the picture.
struct CropState {
  std::string node;              ///< id of the edited node; empty: none
  Grip grip;                     ///< the part that is dragged
  PixelRect start;               ///< rectangle at the start of the drag
  float from_x = 0, from_y = 0;  ///< pointer at the start of the drag; ImGui units
};

struct GraphPanelState {
  std::string selected;          ///< id of the selected node; new nodes are added below it
  std::string dragged;           ///< id of the node that is dragged
  float nodes_height = 0;        ///< height of the list in the last frame; logical pixels
  std::string scroll_to;         ///< id of a new node to scroll to
  std::set<std::string> folded;  ///< ids of nodes whose parameters are folded
  int fold_next = 0,
      fold_now = 0;  ///< fold (−1) or unfold (1) all nodes: in the next frame, and in this frame
  // List of filters
  bool ask_add = false, add_open = false, focus_add = false;
  std::string add_filter;
  int add_choice = 0;
  // Renaming
  std::string renamed, new_name;
  bool focus_rename = false;
  bool rename_drawn = false;  ///< the field was drawn in the last frame, or is in the next one
  int rename_tries = 0;       ///< number of refused names

  /// Selects a new node, scrolls to it, and unfolds it: an earlier node of this name may have been folded.
  void select_new(const std::string& id) { selected = scroll_to = id, folded.erase(id); }
};

/// Graphs A, B and C. The current graph is in the editor; its slot here is updated by the next switch.
struct SlotState {
  struct Slot {
    bool used = false;
    GraphDesc graph;
    int preset = -1;
  };
  std::array<Slot, 3> graphs;  ///< the current one has the index GraphHistory::slot()
};

/// State of the camera's section on the left side.
struct CameraPanelState {
  bool open = false;
  float height = 0;  ///< height of the controls in the last frame; logical pixels
};

/// The last step to a chapter: its target, its time, and ViewerModel::pipeline.
struct ChapterStep {
  int64_t to_ns = 0, time_ns = 0;
  uint64_t pipeline = 0;
  void follow(const Seek& seek);  ///< a relative seek moves the target, another one ends the step
};

struct PlaylistState {
  bool folded = false;
  size_t scrolled_to = 0;      ///< index of the source that the list was scrolled to
  const void* list = nullptr;  ///< the list that `scrolled_to` refers to
};

struct PresetMenuState {
  bool ask_name = false, focus_name = false, name_open = false;  ///< for the "save as" popup
  std::string name, problem;
  std::string delete_candidate;   ///< path of the preset to delete after confirmation
  std::string last_used;          ///< path of the preset that the previous run used last
  GraphDesc last_graph;           ///< graph of the previous run; no nodes: none
  std::string last_graph_preset;  ///< path of last_graph's preset; may be empty
  float list_height = 200;        ///< height of the list in the last frame; logical pixels
  /// Heights of the popups in the last frame, for place_popup().
  float menu_height = 0, name_height = 0, precision_height = 0;
};

struct TimingsState {
  bool details = false;                       ///< the window with all columns is open
  float details_height = 540, details_y = 0;  ///< geometry in the last frame; logical pixels
  bool sorted = false, descending = true;     ///< not sorted: in the graph's order
  int sort_column = 0;
  int64_t copied_at_ns = 0;
};

struct LogState {
  bool open = false;
  int level = 0;  ///< 0: all, 1: warnings and errors, 2: errors
  int64_t copied_at_ns = 0;
};

/// State that the user interface keeps between frames. Contains no state of the pipeline.
struct UiState {
  bool panels = true, help = false, stats = false, bypass = false;
  bool fullscreen = false, on_top = false, borderless = false;
  bool windowed_panels = true;    ///< value of `panels` to restore when fullscreen ends
  bool bottom_peek = false;       ///< the pointer is at the lower edge while the panels are hidden
  int64_t panels_hidden_ns = -1;  ///< time at which the panels were hidden; negative: they are shown
  Fold left = Fold::automatic, right = Fold::automatic, bottom = Fold::automatic;
  float left_width = 272, right_width = 324;  ///< logical pixels
  bool right_first = false;     ///< the right side was opened last: if only one side fits, the left one folds
  bool numbers_scroll = false;  ///< the right side needs a scroll bar
  bool left_room = true, right_room = true;  ///< the side is unfolded in the current layout
  PictureView view;
  int aspect = 0;  ///< index in aspect_choices()
  ScopesState scopes;
  TracksState tracks;
  ThumbnailState thumbnail;
  CompareState compare;
  ChannelView channel = ChannelView::colour;
  ProbeState probe;
  CropState crop;
  TextEdit text_edit;
  GraphEditor editor;
  GraphPanelState graph;
  SlotState slots;
  bool colour_open = false;  ///< the colour section on the left side is unfolded
  PresetShelf presets;
  PresetMenuState preset_menu;
  SourceState source;
  PlaylistState playlist;
  ChapterStep chapter_step;
  CameraPanelState camera;
  std::vector<std::pair<bool, std::string>> messages;  ///< messages for the user; true: a problem
  // Copies of the model's numbers, updated only a few times per second so that users can read them.
  std::optional<uint64_t> timings_version;
  std::vector<PassStats> timings;
  std::vector<TimingRow> timing_rows;
  std::vector<std::vector<int64_t>> timing_histories;
  std::vector<int64_t> history_ns;
  TimingsState timings_view;
  LogState log;
  double display_fps = 0, graph_fps = 0, panels_ms = 0;  ///< panels_ms: average duration of ViewerUi::draw()
  // State of the seek bar while it is dragged and until the seek has finished.
  int64_t seek_ns = -1, seek_from_ns = 0, seek_until_ns = 0;
  uint64_t seek_pipeline = 0;  ///< ViewerModel::pipeline when the drag began
  bool seek_held = false;      ///< the seek bar is dragged
};

/// Requests of the user interface to the program, besides the pipeline commands.
struct ViewerRequests {
  bool quit = false, toggle_fullscreen = false, leave_fullscreen = false;
  bool toggle_on_top = false, toggle_borderless = false;
  bool snapshot = false, snapshot_window = false, copy_picture = false, toggle_record = false;
  bool toggle_virtual_camera = false;
  std::vector<std::pair<bool, std::string>> messages;  ///< messages for the user and the log; true: a problem
  bool trace = false;
  std::optional<SourceRequest> open;  ///< open this source
  int play_step = 0;                  ///< play the next (1) or previous (-1) source of the playlist
  std::optional<size_t> play_index;   ///< play this source of the playlist
  std::optional<int> video_track;     ///< decode this video track of the source; the first is 1
  bool cancel_open = false;           ///< cancel the source that is being opened
  std::string remove_recent;          ///< remove this recent source
};

struct PanelContext {
  const ViewerModel& model;
  const InputState& input;
  const Look& look;
  UiState& state;
  std::vector<Command>& out;
  WidgetRects* rects;  ///< null: do not record rectangles
  int64_t time_ns;

  float px(float logical) const { return look.px(logical); }
  GraphEditor& editor() const { return state.editor; }
  /// Shows a message over the picture and logs it.
  void notify(bool problem, std::string text) const { state.messages.emplace_back(problem, std::move(text)); }
  /// Returns true if the key was pressed since the last frame, even while a text field has the focus.
  bool pressed(Key key) const {
    for (const KeyPress& press : input.presses)
      if (press.key == key) return true;
    return false;
  }
  void send(Command command) const {
    if (const auto* seek = std::get_if<Seek>(&command)) state.chapter_step.follow(*seek);
    out.push_back(std::move(command));
  }
  /// Returns a member of the last command of type C that was sent in this frame, for example by an earlier
  /// key press, because the model does not show its effect yet. Returns `shown` if there is none.
  template <class C, class T>
  T newest(T C::*member, T shown) const {
    for (auto it = out.rbegin(); it != out.rend(); ++it)
      if (const auto* command = std::get_if<C>(&*it)) return command->*member;
    return shown;
  }
  /// Records the last item's rectangle under a stable name such as "graph/median/enabled".
  void mark(std::string_view a, std::string_view b, std::string_view c = {}) const {
    if (!rects) return;
    const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
    (*rects)[c.empty() ? fmt::format("{}/{}", a, b) : fmt::format("{}/{}/{}", a, b, c)] = {
        min.x, min.y, max.x - min.x, max.y - min.y};
  }
  /// Records the last item's rectangle and shows its tooltip.
  void item(std::string_view group, std::string_view name, std::string_view tip,
            std::string_view key = {}) const {
    mark(group, name);
    tooltip(look, tip, key);
  }
};

/// The label of a parameter, a camera control or another setting. The functions are called when their text is
/// shown.
struct SettingLabel {
  std::string_view group, name, part = {};  ///< names of the widget, for WidgetRects
  std::string_view text;
  ImU32 ink;
  bool changed;  ///< the value differs from the default
  std::function<std::string()> explanation, initial;
};
/// Draws the label and, if the value has changed, a button that resets it. Returns true if the button was
/// clicked.
bool draw_setting_label(PanelContext& ctx, const SettingLabel& label);

// The following functions draw the contents of the sides.

/// Draws a combo box that sets `node` to a node's id, to "source", or to an empty string for the output.
/// `output_first`: list the output first instead of last. The widget's name is `group`/`mark`.
void choose_node(PanelContext& ctx, const char* group, const char* mark, std::string& node, float width,
                 bool output_first, const std::string& tip);
/// Draws the button that folds a side. `side` is the side's name in the widget map.
void fold_button(PanelContext& ctx, Icon icon, const char* side, Fold& fold);
/// Draws the source's name and state, the button that opens another source, and the fold button.
void draw_source_row(PanelContext& ctx, ViewerRequests& requests);
/// Draws the field order of an interlaced source, with a button that deinterlaces it. Draws nothing if the
/// graph already has an enabled deinterlace node.
void draw_fields(PanelContext& ctx);
/// Draws the camera's controls if the source has any.
void draw_camera_controls(PanelContext& ctx);
/// Draws a heading, then moves the cursor to the right end of the line for an icon button.
void heading_before_button(PanelContext& ctx, const char* title);
/// Arguments of section_heading(). `name`: name in the widget map. `hide`, `show`: tooltips of the fold
/// button. `key`: key hint in the tooltips. `note`: text at the right end.
struct SectionHeading {
  const char *title, *name, *hide, *show;
  std::string_view key = {};
  std::string note = {};
};
/// Draws the heading of a section that can be folded.
void section_heading(PanelContext& ctx, const SectionHeading& section, bool& shown);
/// Draws the settings of the source's colour conversion. Draws nothing for SDR sources whose primaries are
/// not those of BT.601, because no setting applies to them.
void draw_colour_settings(PanelContext& ctx);
/// Draws the playlist if it has at least two sources.
void draw_playlist(PanelContext& ctx, ViewerRequests& requests);
/// Switches to slot `to` (0: A, 1: B, 2: C). If the slot is unused, copies the current graph to it.
void switch_slot(PanelContext& ctx, size_t to);
/// Draws the buttons of the slots at the right end of the line.
void draw_slots(PanelContext& ctx);
/// Copies a node to the clipboard as text.
void copy_node(PanelContext& ctx, const std::string& id);
/// Adds the nodes in the clipboard below the selected node, or below the output if none is selected.
void paste_nodes(PanelContext& ctx);
void draw_graph_panel(PanelContext& ctx);
void draw_node_params(PanelContext& ctx, const ShownGraph& shown, size_t index);  // in the graph panel
void draw_add_filter(PanelContext& ctx);  // the graph panel's button and list
void draw_preset_row(PanelContext& ctx);
float precision_button_width(const PanelContext& ctx);
void draw_precision_button(PanelContext& ctx);  // with its menu
/// Saves to the graph's preset. Asks for a name if the graph has no preset or the preset is an example.
void save_preset(PanelContext& ctx);
/// Returns true if the previous run's graph can be restored: it has nodes, and the current graph is empty and
/// unedited.
bool may_resume(const PanelContext& ctx);
void resume_last_graph(PanelContext& ctx);
inline constexpr const char* kGraphMemoryDoc =
    "GPU memory of the graph's pictures and buffers. It grows with the picture, 16 bits per sample and the "
    "number of nodes.";

std::string last_graph_text(const PanelContext& ctx);
/// Opens the popup that asks for a name and saves the graph as a preset.
void save_preset_as(PanelContext& ctx);
void draw_timings_panel(PanelContext& ctx, ViewerRequests& requests);
void draw_scopes_panel(PanelContext& ctx);
void draw_tracks_panel(PanelContext& ctx);
void step_chapter(PanelContext& ctx, bool forward);  // to the next or the previous chapter
/// Shows or hides the tracks over the picture. Without tracks, adds a notice instead.
void toggle_tracks(PanelContext& ctx);
void draw_status_panel(PanelContext& ctx);
void draw_transport_bar(PanelContext& ctx);
/// Draws the source dialog if it is open. Call outside any ImGui window.
void draw_source_dialog(PanelContext& ctx, ViewerRequests& requests);
// Parts of the source dialog: places on the left; the folder's files or a camera's formats on the right.
void draw_source_places(PanelContext& ctx, ViewerRequests& requests);
void draw_source_camera(PanelContext& ctx, ViewerRequests& requests);
void draw_source_files(PanelContext& ctx, ViewerRequests& requests);
/// Requests to open a source. The dialog closes when the source plays.
void request_source(PanelContext& ctx, ViewerRequests& requests, SourceRequest source);
// The following functions draw over the picture. `area`: the area for the picture. `placed`: the rectangle of
// the whole picture, which may exceed `area`. Both are in ImGui units.

/// Draws the values of the track under the pointer.
void draw_track_hover(PanelContext& ctx, const Rect& area, const Rect& placed);
/// Draws the buttons at the picture's upper edge, for example fit, compare and record. `own`: the part of
/// `area` that shows B; all of `area` unless A and B are side by side.
void draw_view_bar(PanelContext& ctx, const Rect& area, const Rect& own, ViewerRequests& requests);
/// Returns the height of the buttons, and of a comparison's bar and labels, at the picture's upper edge.
float bars_height(const PanelContext& ctx, const Rect& area);
/// Draws the comparison's bar, handle and labels.
void draw_compare(PanelContext& ctx, const Rect& area, const Rect& placed);
/// Draws the probe's box beside the pointer.
void draw_probe(PanelContext& ctx, const Rect& area, const Rect& placed);
/// Draws the rectangle of the edited crop node and handles its drags.
void draw_crop(PanelContext& ctx, const Rect& area, const Rect& placed);
/// Returns true if the input of the edited crop node is shown instead of the output.
bool crop_shown(const UiState& state);
/// Ends the editing of a crop node on the picture. If no node is edited, or a comparison hides the rectangle,
/// begins to edit the selected crop node, or the first crop node if none is selected.
void toggle_crop(PanelContext& ctx);
/// Draws the grid and values of pixels at high magnification.
void draw_pixel_values(PanelContext& ctx, const Rect& area, const Rect& placed);
/// Draws the menu that a right click on the picture opens. `own`: the area of B in framebuffer pixels, for
/// run_action().
void draw_picture_menu(PanelContext& ctx, const Rect& area, const Rect& own, ViewerRequests& requests);
void draw_notices(PanelContext& ctx, const Rect& area);
/// Draws the state of a live source that delivers no pictures.
void draw_live_state(PanelContext& ctx, const Rect& area);
/// Draws the statistics of the frames over `area`. `own`: the area of the picture whose scale they show.
void draw_stats_overlay(PanelContext& ctx, const Rect& area, const Rect& own);
void draw_keys_help(PanelContext& ctx);
/// Draws the window with all columns of the timings if it is open.
void draw_timings_details(PanelContext& ctx);
/// Draws the log over the lower part of the picture if it is open.
void draw_log_panel(PanelContext& ctx, const Rect& area);
/// Returns a log line's level. 0: a message, 1: a warning, 2: an error.
int log_level(std::string_view line);
/// Returns the lines whose log_level() is at least `level`.
std::vector<std::string> filtered_log(const std::vector<std::string>& lines, int level);

}  // namespace lensd::ui
