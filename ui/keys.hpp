// Keys to commands, and their list for `?`. mpv's keys where mpv has one.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ui/model/input.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {

struct KeyHelp {
  const char* keys;
  const char* what;
  const char* group = nullptr;  ///< heading before this line; null: the line belongs to the group before
};
/// In the order in which they are shown. Static storage.
std::span<const KeyHelp> key_help();

/// Applies this frame's presses: pipeline commands to ctx.out, the interface's own to ctx.state, the rest to
/// the requests. `area` is where the picture is, in framebuffer pixels.
void handle_keys(PanelContext& ctx, const InputState& input, const Rect& area, ViewerRequests& requests);

}  // namespace lensd::ui
