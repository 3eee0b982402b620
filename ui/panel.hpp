// What every panel gets: the model to read, commands to append, and the state of the interface itself.
//
// A panel is one function in panels/, called once per display frame between ImGui's NewFrame and Render.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/model/compare.hpp"
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

/// A side that folds away: by itself in small windows, until the user decides.
enum class Fold : uint8_t { automatic, open, folded };

/// The scopes' part of the state. The panel paints waveforms and vectorscopes into `pixels`; who has GL
/// brings them into `texture`.
struct ScopesState {
  bool open = false;
  std::string node;  ///< empty: what the graph puts out
  ScopeKind kind = ScopeKind::histogram;
  bool log = false;              ///< the histogram's heights
  std::vector<uint32_t> pixels;  ///< RGBA8, rows from the top
  Extent size;                   ///< of `pixels`
  uint64_t paintings = 0;        ///< so far
  uint64_t version = 0;          ///< of the reading that was painted last
  double peak = 0;               ///< the histogram's full height, which follows the counts slowly
  unsigned texture = 0;          ///< GL's name; 0: there is none, as in tests
};

/// What the colour of a track says.
enum class TrackColour : uint8_t { age, residual, motion };

/// The tracks' part of the state.
struct TracksState {
  bool overlay = true, trails = true;
  bool open = false;  ///< the panel's section
  TrackColour colour = TrackColour::age;
};

/// The pixel under the pointer.
struct ProbeState {
  bool on = false;
  bool over = false;  ///< the pointer is on the picture
  int x = 0, y = 0;   ///< picture pixel
  /// Picture pixels in view, where the view is close enough to show their values; else empty.
  int patch_x = 0, patch_y = 0;
  Extent patch;
};

/// The graph panel's part of the state.
struct GraphPanelState {
  std::string selected;    ///< a node's id; new nodes go below it
  std::string dragged;     ///< the node that the pointer moves
  float nodes_height = 0;  ///< of the list, as last drawn; logical pixels
  std::string scroll_to;   ///< a node that was added out of sight
  int fold_next = 0,
      fold_now = 0;  ///< all nodes' parameters: −1 fold away, 1 show, in the next frame, in this
  // The list of filters to add
  bool ask_add = false, add_open = false, add_fresh = false;
  std::string add_filter;
  int add_choice = 0;
  // Renaming in the node's line
  std::string renamed, new_name;
  bool rename_fresh = false;
  int rename_tries = 0;  ///< names that were refused so far
};

/// The presets menu's part of the state.
struct PresetMenuState {
  bool ask_name = false, name_fresh = false, name_open = false;  ///< "save as"
  std::string name, problem;
  std::string doomed;             ///< path of the preset that is to be deleted when confirmed
  std::string last_used;          ///< path, from an earlier run
  GraphDesc last_graph;           ///< of an earlier run; without nodes: none
  std::string last_graph_preset;  ///< path of the preset that it came from; may be empty
  float list_height = 200;        ///< as last drawn; logical pixels
};

/// The timings' part of the state.
struct TimingsState {
  bool details = false;                       ///< the window with every column
  float details_height = 540, details_y = 0;  ///< of that window, as last drawn; logical pixels
  bool sorted = false, descending = true;     ///< else in the graph's order
  int sort_column = 0;
  int64_t copied_at_ns = 0;
};

/// The log's part of the state.
struct LogState {
  bool open = false;
  int level = 0;  ///< 0: all, 1: warnings and errors, 2: errors
  int64_t copied_at_ns = 0;
};

/// What the interface remembers between frames; nothing of it is the pipeline's.
struct UiState {
  bool panels = true, help = false, stats = false, bypass = false;
  Fold left = Fold::automatic, right = Fold::automatic, bottom = Fold::automatic;
  float left_width = 272, right_width = 324;  ///< logical pixels
  bool right_first = false;     ///< which side was asked for last: the other folds where both have no room
  bool numbers_scroll = false;  ///< the right side is longer than the window
  bool left_room = true,
       right_room = true;  ///< shown while the panels are: there is room, or it was asked for
  PictureView view;
  ScopesState scopes;
  TracksState tracks;
  CompareState compare;
  ChannelView channel = ChannelView::colour;
  ProbeState probe;
  TextEdit text_edit;
  GraphEditor editor;
  GraphPanelState graph;
  PresetShelf presets;
  PresetMenuState preset_menu;
  SourceState source;
  std::vector<std::pair<bool, std::string>> messages;  ///< for the user; true: a problem
  // Numbers that are read rather than watched, as of the model's newest timings.
  std::optional<uint64_t> timings_version;
  std::vector<PassStats> timings;
  std::vector<TimingRow> timing_rows;
  std::vector<std::vector<int64_t>> timing_histories;
  std::vector<int64_t> history_ns;
  TimingsState timings_view;
  LogState log;
  double display_fps = 0, decode_fps = 0, panels_ms = 0;
  // The seek bar while it is dragged, and until the pipeline has followed.
  int64_t seek_ns = -1, seek_from_ns = 0, seek_until_ns = 0;
};

/// What the program has to do, being no business of the pipeline.
struct ViewerRequests {
  bool quit = false, toggle_fullscreen = false, leave_fullscreen = false;
  bool snapshot = false, snapshot_window = false, toggle_record = false;
  std::vector<std::pair<bool, std::string>> messages;  ///< for the user and the log; true: a problem
  bool trace = false;                                  ///< the flight recorder writes what it has
  std::optional<SourceRequest> open;                   ///< a source, in place of the one that plays
  bool cancel_open = false;                            ///< what is being opened is given up
  std::string forget_source;                           ///< a recent source that is not to be offered again
};

struct PanelContext {
  const ViewerModel& model;
  const InputState& input;
  const Look& look;
  UiState& state;
  std::vector<Command>& out;
  WidgetRects* rects;  ///< null: nobody asked where widgets are
  int64_t time_ns;

  float px(float logical) const { return look.px(logical); }
  GraphEditor& editor() const { return state.editor; }
  /// For the user to read over the picture, and for the log.
  void tell(bool problem, std::string text) const { state.messages.emplace_back(problem, std::move(text)); }
  /// The key was pressed since the last frame, with no text field in the way of asking.
  bool pressed(Key key) const {
    for (const KeyPress& press : input.presses)
      if (press.key == key) return true;
    return false;
  }
  template <class C>
  void send(C command) const {
    out.emplace_back(std::move(command));
  }
  /// Notes where the last item is, under a stable name such as "graph/median/enabled".
  void mark(std::string_view a, std::string_view b, std::string_view c = {}) const {
    if (!rects) return;
    const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
    (*rects)[c.empty() ? fmt::format("{}/{}", a, b) : fmt::format("{}/{}/{}", a, b, c)] = {
        min.x, min.y, max.x - min.x, max.y - min.y};
  }
};

// Inside the window that the layout opened:
/// The source's name and state with the button that opens another; the side's fold at its end.
void draw_source_row(PanelContext& ctx, ViewerRequests& requests);
void draw_graph_panel(PanelContext& ctx);
void draw_node_params(PanelContext& ctx, const ShownGraph& shown, size_t index);  // of the graph panel
void draw_add_filter(PanelContext& ctx);  // the graph panel's button and list
void draw_preset_row(PanelContext& ctx);
/// Ctrl+s: into the preset that is loaded, or ask for a name.
void save_preset(PanelContext& ctx);
/// Whether the graph of the run before may be taken up again: nothing was begun yet.
bool may_resume(const PanelContext& ctx);
void resume_last_graph(PanelContext& ctx);
/// Its nodes and its preset.
std::string last_graph_text(const PanelContext& ctx);
/// Ctrl+Shift+s: asks for a name.
void save_preset_as(PanelContext& ctx);
void draw_timings_panel(PanelContext& ctx, ViewerRequests& requests);
void draw_scopes_panel(PanelContext& ctx);
void draw_tracks_panel(PanelContext& ctx);
void draw_status_panel(PanelContext& ctx);
void draw_transport_bar(PanelContext& ctx);
/// The window in which a source is chosen, while it is open. Outside any window.
void draw_source_dialog(PanelContext& ctx, ViewerRequests& requests);
/// Ctrl+o.
void ask_for_source(UiState& state);
// Parts of it: places to the left; to the right the folder's files, or a camera's formats.
void draw_source_places(PanelContext& ctx, ViewerRequests& requests);
void draw_source_camera(PanelContext& ctx, ViewerRequests& requests);
void draw_source_files(PanelContext& ctx, ViewerRequests& requests);
/// Has the program open what was wished for; the dialog closes when it plays.
void wish_source(PanelContext& ctx, ViewerRequests& requests, SourceRequest wish);
// Over the picture, whose area is in ImGui units:
/// `placed` is where the whole picture lies. The numbers of the track under the pointer.
void draw_track_hover(PanelContext& ctx, const Rect& area, const Rect& placed);
/// Buttons over the picture's upper rim: fit, compare, channels, probe, snapshot, record. `own` is the part
/// in which B lies.
void draw_view_bar(PanelContext& ctx, const Rect& area, const Rect& own, ViewerRequests& requests);
/// What is compared, the handle and the labels. `placed` as above.
void draw_compare(PanelContext& ctx, const Rect& area, const Rect& placed);
/// The probe's box beside the pointer; grid and values where the view is close. `placed` as above.
void draw_probe(PanelContext& ctx, const Rect& area, const Rect& placed);
void draw_pixel_values(PanelContext& ctx, const Rect& area, const Rect& placed);
void draw_notices(PanelContext& ctx, const Rect& area);
void draw_stats_overlay(PanelContext& ctx, const Rect& area);
void draw_keys_help(PanelContext& ctx);
/// The window with every column of the timings, while it is open.
void draw_timings_details(PanelContext& ctx);
/// Messages over the picture's lower half, while it is open.
void draw_log_panel(PanelContext& ctx, const Rect& area);
/// 0: a message, 1: a warning, 2: an error.
int log_level(std::string_view line);
/// The lines of that level and above.
std::vector<std::string> filtered_log(const std::vector<std::string>& lines, int level);

}  // namespace lensd::ui
