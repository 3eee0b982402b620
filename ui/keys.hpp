// Keyboard actions: one table of keys, help texts and handlers. Most actions that mpv has use mpv's keys.
//
//   table ──▶ handle_keys(), run_action()               make commands, state changes and requests
//         ├─▶ key_help()                                lines of the key help
//         └─▶ key_text(), key_hint(), node_key_hint()   key names in menus, tooltips and messages
//
// Call from the UI thread only.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "ui/model/input.hpp"
#include "ui/widgets/rect.hpp"

namespace lensd::ui {

struct PanelContext;
struct ViewerRequests;

/// Actions that tooltips, menus and messages refer to. `other`: all other actions.
enum class Action : uint8_t {
  other,
  open_source,
  next_source,
  previous_source,
  pause,
  step_forward,
  step_back,
  slower,
  faster,
  normal_speed,
  quieter,
  louder,
  mute,
  ab_loop,
  loop_file,
  add_filter,
  switch_node,
  remove_node,
  duplicate_node,
  copy_node,
  paste_node,
  reset_node,
  graph_slot,
  crop,
  mirror,
  rotate,
  aspect,
  video_track,
  undo,
  redo,
  save_preset,
  save_preset_as,
  bypass,
  compare_split,
  compare_difference,
  probe,
  scopes,
  tracks,
  zoom_in,
  zoom_out,
  fit,
  actual_size,
  snapshot,
  record,
  virtual_camera,
  trace,
  fullscreen,
  on_top,
  borderless,
  escape,
  panels,
  log,
  help,
};

/// A line of the key help.
struct KeyHelp {
  std::string keys, what;
  const char* group = nullptr;  ///< heading above this line; null: same group as the line above
};
/// Returns the lines of the key help in display order.
const std::vector<KeyHelp>& key_help();

/// Returns the keys of an action, such as "Ctrl+s" or "Space or p".
std::string key_text(Action action);
/// Returns the keys of actions for tooltips: "key a", "Ctrl+s", "[ or ] or Backspace".
std::string key_hint(std::initializer_list<Action> actions);
inline std::string key_hint(Action action) {
  return key_hint({action});
}
/// Returns "key 3" for the third node (`number` 3). Returns an empty string if that node has no key.
std::string node_key_hint(int number);

// First words of the hints about the key that sets an A-B loop. ViewerModelBuilder removes these hints when
// the loop is complete or cleared.
inline constexpr const char *kLoopBegun = "Loop from", *kLoopTooShort = "B must be after A";

// First words of the notices about a setting. ViewerModelBuilder replaces such a notice with the next one.
inline constexpr const char *kVolumeIs = "Volume:", *kSoundIs = "Sound:", *kAspectIs = "Aspect ratio:",
                            *kSlotIs = "Graph ";

// Actions of keys and buttons. They add a notice instead if the source does not support them.
void toggle_pause(PanelContext& ctx);
/// Steps forward, or back if `frames` is negative.
void step_frames(PanelContext& ctx, int frames);
void toggle_file_loop(PanelContext& ctx);
/// Removes a node. If it is selected, selects the next node instead, or the previous one if it was the last.
void remove_from_list(PanelContext& ctx, const std::string& id);

/// Runs an action as its key does, for menus. Arguments as in handle_keys().
void run_action(Action action, PanelContext& ctx, const Rect& area, ViewerRequests& requests);

/// Handles the key presses of this frame. Ignores them while the user types text. Appends pipeline commands
/// to ctx.out, changes ctx.state, and writes other requests to `requests`. `area` is the picture's area in
/// framebuffer pixels.
void handle_keys(PanelContext& ctx, const InputState& input, const Rect& area, ViewerRequests& requests);

}  // namespace lensd::ui
