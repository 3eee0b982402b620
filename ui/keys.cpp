#include "ui/keys.hpp"

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lensd::ui {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr double kSpeedStep = 1.1, kMinSpeed = 0.01, kMaxSpeed = 100, kZoomStep = 1.25;

constexpr KeyHelp kHelp[] = {
    {"Ctrl+o", "open a file, a camera, an address", "Playing"},
    {"Space  p", "pause and play"},
    {".  ,", "step one frame on, back"},
    {"←  →", "5 seconds back, on"},
    {"↓  ↑", "a minute back, on"},
    {"[  ]  Backspace", "slower, faster, normal speed"},
    {"l", "A-B loop: set A, set B, clear"},
    {"L", "loop the file"},
    {"+", "add a filter", "Graph"},
    {"1 – 9", "switch a node on and off"},
    {"Del  Ctrl+d", "remove, duplicate the selected node"},
    {"Ctrl+z  Ctrl+y", "undo, redo"},
    {"Ctrl+s  Ctrl+Shift+s", "save the graph as a preset, under a new name"},
    {"b", "show the source while held", "Looking closely"},
    {"a", "compare: A left of a line, B right of it"},
    {"d", "compare: difference as a heat map"},
    {"x", "probe: the pixel under the pointer"},
    {"h", "scopes: histogram, waveform, vectorscope"},
    {"t", "tracks over the picture"},
    {"Wheel", "zoom at the pointer"},
    {"Alt++  Alt+−", "zoom in, out"},
    {"0  Alt+1", "fit the window, one to one"},
    {"Drag", "move the picture"},
    {"s  S", "snapshot of the picture, of the window", "Keeping"},
    {"r", "record, and stop"},
    {"g", "write a trace of the last 10 seconds"},
    {"f  double click", "fullscreen; Esc leaves it", "Window"},
    {"Tab", "hide or show the panels"},
    {"i", "numbers over the picture"},
    {"e", "messages so far"},
    {"?", "these keys"},
    {"q", "quit"},
};

void step_speed(PanelContext& ctx, double factor) {
  double speed = std::clamp(ctx.model.speed * factor, kMinSpeed, kMaxSpeed);
  if (std::abs(speed - 1) < 0.04) speed = 1;  // stepping there and back ends at exactly normal
  ctx.send(SetSpeed{speed});
}

void cycle_ab_loop(PanelContext& ctx) {
  const ViewerModel& m = ctx.model;
  if (m.loop_a_ns < 0) {
    ctx.send(SetLoop{m.loop_file, m.position_ns, -1});
  } else if (m.loop_b_ns < 0) {
    // Whichever came first in time is A.
    ctx.send(
        SetLoop{m.loop_file, std::min(m.loop_a_ns, m.position_ns), std::max(m.loop_a_ns, m.position_ns)});
  } else {
    ctx.send(SetLoop{m.loop_file, -1, -1});
  }
}

void switch_node(PanelContext& ctx, int number) {
  const auto shown = ctx.editor().shown();
  if (number < 1 || static_cast<size_t>(number) > shown->nodes.size()) return;
  const NodeView& node = shown->nodes[static_cast<size_t>(number - 1)];
  ctx.editor().set_enabled(node.id, !node.enabled);
}

/// The list of filters belongs to the left side.
void ask_for_filter(UiState& s) {
  s.graph.ask_add = true;
  if (!s.left_room) s.left = Fold::open, s.right_first = false;
  s.panels = true;
}

void remove_selected(PanelContext& ctx) {
  // The node that moves up is selected next, so that several go one after the other.
  std::string& selected = ctx.state.graph.selected;
  const auto shown = ctx.editor().shown();
  for (size_t i = 0; i < shown->nodes.size(); ++i) {
    if (shown->nodes[i].id != selected) continue;
    ctx.editor().remove(selected);
    selected = i + 1 < shown->nodes.size() ? shown->nodes[i + 1].id : i > 0 ? shown->nodes[i - 1].id : "";
    return;
  }
}

void control_character(PanelContext& ctx, const KeyPress& press) {
  switch (press.character) {
    case U'z':
      press.shift ? ctx.editor().redo() : ctx.editor().undo();
      break;
    case U'y':
      ctx.editor().redo();
      break;
    case U'o':
      if (!press.repeat) ask_for_source(ctx.state);
      break;
    case U's':
      if (press.repeat) break;
      press.shift ? save_preset_as(ctx) : save_preset(ctx);
      break;
    case U'd':
      if (const std::string copy = ctx.editor().duplicate(ctx.state.graph.selected); !copy.empty())
        ctx.state.graph.selected = ctx.state.graph.scroll_to = copy;
      break;
    default:
      break;
  }
}

void toggle(CompareMode& mode, CompareMode wanted) {
  mode = mode == wanted ? CompareMode::off : wanted;
}

/// Opening them brings the side that they are in.
void toggle_scopes(UiState& s) {
  const bool shown = s.scopes.open && s.panels && s.right_room;
  s.scopes.open = !shown;
  if (!s.scopes.open) return;
  // A side that is there as there is room stays so.
  if (!s.right_room) s.right = Fold::open, s.right_first = true;
  s.panels = true;
}

void zoom(PanelContext& ctx, const Rect& area, double factor) {
  ctx.state.view = zoomed_at(ctx.model.picture, area, ctx.state.view, area.x + area.w * 0.5f,
                             area.y + area.h * 0.5f, factor);
}

void seek(PanelContext& ctx, int seconds) {
  if (ctx.model.seekable) ctx.send(Seek{seconds * kSecond, true});
}

void alt_character(PanelContext& ctx, char32_t c, const Rect& area) {
  switch (c) {
    case U'+':
    case U'=':
      zoom(ctx, area, kZoomStep);
      break;
    case U'-':
      zoom(ctx, area, 1 / kZoomStep);
      break;
    case U'1':
      ctx.state.view = actual_size(ctx.model.picture, area, ctx.state.view);
      break;
    default:
      break;
  }
}

/// Keys that act once, however long they are held.
void single_character(PanelContext& ctx, char32_t c, ViewerRequests& requests) {
  UiState& s = ctx.state;
  switch (c) {
    case U' ':
    case U'p':
      ctx.send(Pause{!ctx.model.stands_still()});
      break;
    case U'l':
      cycle_ab_loop(ctx);
      break;
    case U'L':
      ctx.send(SetLoop{!ctx.model.loop_file, ctx.model.loop_a_ns, ctx.model.loop_b_ns});
      break;
    case U'f':
      requests.toggle_fullscreen = true;
      break;
    case U'h':
      toggle_scopes(s);
      break;
    case U'a':
      toggle(s.compare.mode, CompareMode::split);
      break;
    case U'd':
      toggle(s.compare.mode, CompareMode::difference);
      break;
    case U'x':
      s.probe.on = !s.probe.on;
      break;
    case U's':
      requests.snapshot = true;
      break;
    case U'S':
      requests.snapshot_window = true;
      break;
    case U'r':
      requests.toggle_record = true;
      break;
    case U'g':
      requests.trace = true;
      break;
    case U't':
      s.tracks.overlay = !s.tracks.overlay;
      break;
    case U'i':
      s.stats = !s.stats;
      break;
    case U'e':
      s.log.open = !s.log.open;
      break;
    case U'?':
      s.help = !s.help;
      break;
    case U'+':
      ask_for_filter(s);
      break;
    case U'0':
      s.view = {};
      break;
    case U'q':
      requests.quit = true;
      break;
    default:
      if (c >= U'1' && c <= U'9') switch_node(ctx, static_cast<int>(c - U'0'));
  }
}

void named(PanelContext& ctx, const KeyPress& press, ViewerRequests& requests) {
  UiState& s = ctx.state;
  switch (press.key) {
    case Key::left:
      seek(ctx, -5);
      break;
    case Key::right:
      seek(ctx, 5);
      break;
    case Key::down:
      seek(ctx, -60);
      break;
    case Key::up:
      seek(ctx, 60);
      break;
    case Key::backspace:
      ctx.send(SetSpeed{1});
      break;
    case Key::tab:
      if (!press.repeat) s.panels = !s.panels;
      break;
    case Key::escape:
      if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel)) {
        ImGui::ClosePopupToLevel(0, true);
      } else if (!s.graph.dragged.empty() || !s.graph.renamed.empty()) {
        // The graph panel gives up what it is doing.
      } else if (s.help) {
        s.help = false;
      } else if (s.timings_view.details) {
        s.timings_view.details = false;
      } else if (s.log.open) {
        s.log.open = false;
      } else {
        requests.leave_fullscreen = true;
      }
      break;
    case Key::remove:
      remove_selected(ctx);
      break;
    case Key::enter:
    case Key::character:
      break;
  }
}

}  // namespace

std::span<const KeyHelp> key_help() {
  return kHelp;
}

void handle_keys(PanelContext& ctx, const InputState& input, const Rect& area, ViewerRequests& requests) {
  ctx.state.bypass = false;
  // A list that takes text takes it from the first key on, before its field is active.
  if (ImGui::GetIO().WantTextInput || ctx.state.graph.add_open || ctx.state.preset_menu.name_open ||
      ctx.state.source.open)
    return;
  ctx.state.bypass = input.held('b');
  for (const KeyPress& press : input.presses) {
    if (press.ctrl) {
      if (press.key == Key::character) control_character(ctx, press);
    } else if (press.key != Key::character) {
      named(ctx, press, requests);
    } else if (press.alt) {
      alt_character(ctx, press.character, area);
    } else if (press.character == U'.') {
      ctx.send(Step{1});
    } else if (press.character == U',') {
      ctx.send(Step{-1});
    } else if (press.character == U'[') {
      step_speed(ctx, 1 / kSpeedStep);
    } else if (press.character == U']') {
      step_speed(ctx, kSpeedStep);
    } else if (!press.repeat) {
      single_character(ctx, press.character, requests);
    }
  }
}

}  // namespace lensd::ui
