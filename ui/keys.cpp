#include "ui/keys.hpp"

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr double kSpeedStep = 1.1, kZoomStep = 1.25, kVolumeStep = 2;

/// A key with its modifiers, or the name of a mouse gesture.
struct Stroke {
  Key key = Key::character;
  char32_t first = 0, last = 0;  ///< range of characters; 0: none
  bool ctrl = false, alt = false, shift = false;
  bool shown = true;              ///< listed in help and tooltips
  const char* gesture = nullptr;  ///< "Wheel"; such a stroke never matches a press

  constexpr Stroke hidden() const { return {key, first, last, ctrl, alt, shift, false, gesture}; }
};
constexpr Stroke key(char32_t c, bool ctrl = false, bool alt = false, bool shift = false) {
  return {.first = c, .last = c, .ctrl = ctrl, .alt = alt, .shift = shift};
}
constexpr Stroke ctrl(char32_t c, bool shift = false) {
  return key(c, true, false, shift);
}
constexpr Stroke alt(char32_t c) {
  return key(c, false, true);
}

struct KeyEvent {
  PanelContext& ctx;
  const KeyPress& press;
  const Rect& area;
  ViewerRequests& requests;
  UiState& state = ctx.state;
  CompareMode& compare = ctx.state.compare.mode;
  const ViewerModel& model = ctx.model;
};

void step_speed(PanelContext& ctx, double factor) {
  if (ctx.model.live) return ctx.notify(false, "The speed of a live source cannot be changed");
  double speed = std::clamp(ctx.newest(&SetSpeed::speed, ctx.model.speed) * factor, kMinSpeed, kMaxSpeed);
  if (std::abs(speed - 1) < 0.04) speed = 1;  // snap to 1 despite rounding errors
  ctx.send(SetSpeed{speed});
}

void step_volume(PanelContext& ctx, double by) {
  const double volume = std::clamp(ctx.newest(&SetVolume::percent, ctx.model.volume) + by, 0.0, kMaxVolume);
  ctx.send(SetVolume{volume});
  ctx.notify(false, fmt::format("{} {:.0f} %", kVolumeIs, volume));
}

void toggle_mute(PanelContext& ctx) {
  const bool muted = !ctx.newest(&SetMute::on, ctx.model.muted);
  ctx.send(SetMute{muted});
  ctx.notify(false, fmt::format("{} {}", kSoundIs, muted ? "muted" : "on"));
}

void cycle_ab_loop(PanelContext& ctx) {
  const ViewerModel& m = ctx.model;
  const int64_t now = m.position_ns;
  if (!m.seekable) return ctx.notify(false, "This source cannot seek, so it has no A-B loop");
  const bool file = ctx.newest(&SetFileLoop::on, m.loop_file);
  const int64_t a = ctx.newest(&SetLoop::a_ns, m.loop_a_ns), b = ctx.newest(&SetLoop::b_ns, m.loop_b_ns);
  if (a < 0) {
    ctx.send(SetLoop{file, now, -1});
    ctx.notify(false, fmt::format("{} {}; {} again sets its end", kLoopBegun, clock_text(now, false),
                                  key_text(Action::ab_loop)));
  } else if (b < 0) {
    if (now == a)
      return ctx.notify(false, fmt::format("{}: play or seek before {} sets the end", kLoopTooShort,
                                           key_text(Action::ab_loop)));
    ctx.send(SetLoop{file, std::min(a, now), std::max(a, now)});
  } else {
    ctx.send(SetLoop{file, -1, -1});
  }
}

void next_aspect(PanelContext& ctx) {
  int& aspect = ctx.state.aspect;
  aspect = (aspect + 1) % static_cast<int>(aspect_choices().size());
  ctx.notify(false, fmt::format("{} {}", kAspectIs, aspect_choices()[static_cast<size_t>(aspect)].name));
}

void next_video_track(const KeyEvent& e) {
  const auto count = static_cast<int>(e.model.video_tracks.size());
  if (count < 2) return e.ctx.notify(false, "This source has no other video track");
  e.requests.video_track = e.model.video_track % count + 1;
}

void switch_node(PanelContext& ctx, size_t index) {
  const auto shown = ctx.editor().shown();
  if (index >= shown->nodes.size()) return;
  const NodeView& node = shown->nodes[index];
  ctx.editor().set_enabled(node.id, !node.enabled);
}

/// Opens the list of filters, and the left side, which contains it.
void ask_for_filter(UiState& s) {
  s.graph.ask_add = true;
  if (!s.left_room) s.left = Fold::open, s.right_first = false;
  s.panels = true;
}

void duplicate_selected(PanelContext& ctx) {
  if (const std::string copy = ctx.editor().duplicate(ctx.state.graph.selected); !copy.empty())
    ctx.state.graph.select_new(copy);
}

void toggle(bool& on) {
  on = !on;
}

void toggle(CompareMode& mode, CompareMode wanted) {
  mode = mode == wanted ? CompareMode::off : wanted;
}

/// Shows or hides the scopes. Showing them also opens their side.
void toggle_scopes(UiState& s) {
  const bool shown = s.scopes.open && s.panels && s.right_room;
  s.scopes.open = !shown;
  if (!s.scopes.open) return;
  if (!s.right_room) s.right = Fold::open, s.right_first = true;
  s.panels = true;
}

void zoom(const KeyEvent& e, double factor) {
  e.state.view = zoomed_at(e.model.picture, e.area, e.state.view, e.area.x + e.area.w * 0.5f,
                           e.area.y + e.area.h * 0.5f, factor);
}

/// Returns true if the source can seek. Otherwise adds a notice.
bool may_seek(PanelContext& ctx) {
  if (!ctx.model.seekable) ctx.notify(false, "This source cannot seek");
  return ctx.model.seekable;
}

void seek(PanelContext& ctx, int seconds) {
  if (may_seek(ctx)) ctx.send(Seek{seconds * kSecond, true});
}

void seek_to(PanelContext& ctx, int64_t position_ns) {
  if (may_seek(ctx)) ctx.send(Seek{position_ns, false});
}

/// Seeks to the end. Without an announced length, or if the file has grown beyond it, the end is unknown. In
/// a playlist also pauses, because the next source would replace the last frame at once.
void seek_to_end(PanelContext& ctx) {
  const ViewerModel& m = ctx.model;
  if (m.image || !may_seek(ctx)) return;
  if (m.duration_ns <= 0 || m.position_ns > m.duration_ns)
    return ctx.notify(false, "The end of this source is not known");
  if (m.playlist && m.playlist->size() > 1 && !m.loop_file && !m.paused) ctx.send(Pause{true});
  ctx.send(Seek{m.duration_ns, false});
}

/// Performs the first of these actions that applies: closes all popups, ends crop editing, closes a window,
/// leaves fullscreen. Drags are ended by the graph panel instead.
void escape(const KeyEvent& e) {
  UiState& s = e.state;
  if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel))
    return ImGui::ClosePopupToLevel(0, true);
  if (!s.graph.dragged.empty()) return;
  if (!s.crop.node.empty()) return s.crop = {}, void();
  for (bool* open : {&s.help, &s.timings_view.details, &s.log.open})
    if (*open) return void(*open = false);
  e.requests.leave_fullscreen = true;
}

enum Repeat : bool { once, repeats };  // whether a held key repeats the action

struct KeyAction {
  Action action;
  std::array<Stroke, 2> strokes;
  const char* help;  ///< null: the keys are listed on the line above
  Repeat repeat = once;
  void (*run)(const KeyEvent& e) = nullptr;  ///< null: key presses do not run the action
  const char* group = nullptr;               ///< heading above this line in the key help
};

using A = Action;
using E = const KeyEvent&;
// clang-format off
constexpr KeyAction kActions[] = {
    {A::open_source, {ctrl('o')}, "open a file, a camera, an address", once, [](E e) { e.state.source.ask = true; }, "Playing"},
    {A::next_source, {key('>')}, "next, previous source of the playlist", once, [](E e) { e.requests.play_step = 1; }},
    {A::previous_source, {key('<')}, nullptr, once, [](E e) { e.requests.play_step = -1; }},
    {A::video_track, {key('_')}, "next video track", once, [](E e) { next_video_track(e); }},
    {A::pause, {key(' '), key('p')}, "pause and play", once, [](E e) { toggle_pause(e.ctx); }},
    {A::step_forward, {key('.')}, "step one frame forward, back", repeats, [](E e) { step_frames(e.ctx, 1); }},
    {A::step_back, {key(',')}, nullptr, repeats, [](E e) { step_frames(e.ctx, -1); }},
    {A::other, {Stroke{.key = Key::left}}, "5 seconds back, forward", repeats, [](E e) { seek(e.ctx, -5); }},
    {A::other, {Stroke{.key = Key::right}}, nullptr, repeats, [](E e) { seek(e.ctx, 5); }},
    {A::other, {Stroke{.key = Key::down}}, "a minute back, forward", repeats, [](E e) { seek(e.ctx, -60); }},
    {A::other, {Stroke{.key = Key::up}}, nullptr, repeats, [](E e) { seek(e.ctx, 60); }},
    {A::other, {Stroke{.key = Key::home}}, "to the start, to the end", once, [](E e) { seek_to(e.ctx, 0); }},
    {A::other, {Stroke{.key = Key::end}}, nullptr, once, [](E e) { seek_to_end(e.ctx); }},
    {A::other, {Stroke{.key = Key::page_up}}, "next, previous chapter", repeats, [](E e) { step_chapter(e.ctx, true); }},
    {A::other, {Stroke{.key = Key::page_down}}, nullptr, repeats, [](E e) { step_chapter(e.ctx, false); }},
    {A::other, {Stroke{.gesture = "Wheel on the timeline"}}, "5 seconds forward, back"},
    {A::slower, {key('[')}, "slower, faster, normal speed", repeats, [](E e) { step_speed(e.ctx, 1 / kSpeedStep); }},
    {A::faster, {key(']')}, nullptr, repeats, [](E e) { step_speed(e.ctx, kSpeedStep); }},
    {A::normal_speed, {Stroke{.key = Key::backspace}}, nullptr, repeats, [](E e) { e.ctx.send(SetSpeed{1}); }},
    {A::quieter, {key('/')}, "volume down, up", repeats, [](E e) { step_volume(e.ctx, -kVolumeStep); }},
    {A::louder, {key('*')}, nullptr, repeats, [](E e) { step_volume(e.ctx, kVolumeStep); }},
    {A::mute, {key('m')}, "mute the sound", once, [](E e) { toggle_mute(e.ctx); }},
    {A::ab_loop, {key('l')}, "A-B loop: set A, set B, clear", once, [](E e) { cycle_ab_loop(e.ctx); }},
    {A::loop_file, {key('L')}, "loop the file", once, [](E e) { toggle_file_loop(e.ctx); }},

    {A::add_filter, {key('+')}, "add a filter", once, [](E e) { ask_for_filter(e.state); }, "Graph"},
    {A::switch_node, {Stroke{.first = '1', .last = '9'}}, "switch a node on and off", once, [](E e) { switch_node(e.ctx, e.press.character - U'1'); }},
    {A::remove_node, {Stroke{.key = Key::remove}}, "remove, duplicate the selected node", repeats, [](E e) { remove_from_list(e.ctx, e.state.graph.selected); }},
    {A::duplicate_node, {ctrl('d')}, nullptr, repeats, [](E e) { duplicate_selected(e.ctx); }},
    {A::copy_node, {ctrl('c')}, "copy the selected node as text, paste nodes", once, [](E e) { copy_node(e.ctx, e.state.graph.selected); }},
    {A::paste_node, {ctrl('v')}, nullptr, once, [](E e) { paste_nodes(e.ctx); }},
    {A::reset_node, {ctrl('r')}, "reset the selected node", once, [](E e) { e.ctx.editor().reset_params(e.state.graph.selected); }},
    {A::graph_slot, {Stroke{.first = '1', .last = '3', .ctrl = true}}, "graph A, B, C", once, [](E e) { switch_slot(e.ctx, e.press.character - U'1'); }},
    {A::crop, {key('c')}, "drag the rectangle of a crop node", once, [](E e) { toggle_crop(e.ctx); }},
    {A::mirror, {key('M')}, "mirror the picture, turn it by 90°", once, [](E e) { e.ctx.editor().cycle_at_output("flip", "mirror", "mode", {"horizontal"}); }},
    {A::rotate, {key('R')}, nullptr, once, [](E e) { e.ctx.editor().cycle_at_output("rotate", "turn", "angle", {"90", "180", "270"}); }},
    {A::undo, {ctrl('z')}, "undo, redo", repeats, [](E e) { e.ctx.editor().undo(); }},
    {A::redo, {ctrl('y'), ctrl('z', true).hidden()}, nullptr, repeats, [](E e) { e.ctx.editor().redo(); }},
    {A::save_preset, {ctrl('s')}, "save the graph as a preset, under a new name", once, [](E e) { save_preset(e.ctx); }},
    {A::save_preset_as, {ctrl('s', true)}, nullptr, once, [](E e) { save_preset_as(e.ctx); }},

    {A::bypass, {key('b')}, "show the source while held", once, nullptr, "Looking closely"},
    {A::compare_split, {key('a')}, "compare: A left of a line, B right of it", once, [](E e) { toggle(e.compare, CompareMode::split); }},
    {A::compare_difference, {key('d')}, "compare: difference as a heat map", once, [](E e) { toggle(e.compare, CompareMode::difference); }},
    {A::probe, {key('x')}, "probe: the pixel under the pointer", once, [](E e) { toggle(e.state.probe.on); }},
    {A::scopes, {key('h')}, "scopes: histogram, waveform, vectorscope", once, [](E e) { toggle_scopes(e.state); }},
    {A::tracks, {key('t')}, "tracks over the picture", once, [](E e) { toggle_tracks(e.ctx); }},
    {A::other, {Stroke{.gesture = "Wheel"}}, "zoom at the pointer"},
    {A::zoom_in, {alt('+'), alt('=').hidden()}, "zoom in, out", repeats, [](E e) { zoom(e, kZoomStep); }},
    {A::zoom_out, {alt('-')}, nullptr, repeats, [](E e) { zoom(e, 1 / kZoomStep); }},
    {A::fit, {key('0')}, "fit the window, one to one", once, [](E e) { e.state.view = {.pixel_aspect = e.state.view.pixel_aspect}; }},
    {A::actual_size, {alt('1')}, nullptr, repeats, [](E e) { e.state.view = actual_size(e.model.picture, e.area, e.state.view); }},
    {A::aspect, {key('A')}, "next aspect ratio: 16:9, 4:3, 2.35:1, square pixels", once, [](E e) { next_aspect(e.ctx); }},
    {A::other, {Stroke{.gesture = "Drag"}}, "move the picture"},

    {A::snapshot, {key('s')}, "snapshot of the picture, of the window", once, [](E e) { e.requests.snapshot = true; }, "Saving"},
    {A::other, {key('S')}, nullptr, once, [](E e) { e.requests.snapshot_window = true; }},
    {A::record, {key('r')}, "start and stop recording", once, [](E e) { e.requests.toggle_record = true; }},
    {A::virtual_camera, {key('v')}, "virtual camera for other programs, on and off", once, [](E e) { e.requests.toggle_virtual_camera = true; }},
    {A::trace, {key('g')}, "write a trace of the last 10 seconds", once, [](E e) { e.requests.trace = true; }},

    {A::fullscreen, {key('f'), Stroke{.gesture = "double click"}}, "fullscreen, leave it", once, [](E e) { e.requests.toggle_fullscreen = true; }, "Window"},
    {A::escape, {Stroke{.key = Key::escape}}, nullptr, repeats, escape},
    {A::on_top, {key('T')}, "keep the window on top, without a border", once, [](E e) { e.requests.toggle_on_top = true; }},
    {A::borderless, {key('B')}, nullptr, once, [](E e) { e.requests.toggle_borderless = true; }},
    {A::panels, {Stroke{.key = Key::tab}}, "hide or show the panels", once, [](E e) { toggle(e.state.panels); }},
    {A::other, {key('i'), key('I').hidden()}, "statistics over the picture", once, [](E e) { toggle(e.state.stats); }},
    {A::log, {key('e')}, "messages so far", once, [](E e) { toggle(e.state.log.open); }},
    {A::help, {key('?')}, "this list of keys", once, [](E e) { toggle(e.state.help); }},
    {A::other, {key('q')}, "quit", once, [](E e) { e.requests.quit = true; }},
};
// clang-format on

const KeyAction& row(Action action) {
  return *std::find_if(std::begin(kActions), std::end(kActions),
                       [&](const KeyAction& a) { return a.action == action; });
}

std::string character_name(char32_t c) {
  return c == U' ' ? "Space" : c == U'-' ? "−" : std::string(1, static_cast<char>(c));
}

std::string key_name(const Stroke& s) {
  constexpr const char* kNames[] = {"",  "Esc",   "Tab", "Backspace", "←",   "→",    "↑",
                                    "↓", "Enter", "Del", "Home",      "End", "PgUp", "PgDn"};
  if (s.gesture) return s.gesture;
  if (s.key != Key::character) return kNames[static_cast<size_t>(s.key)];
  const std::string text = fmt::format("{}{}{}{}", s.ctrl ? "Ctrl+" : "", s.alt ? "Alt+" : "",
                                       s.shift ? "Shift+" : "", character_name(s.first));
  return s.first == s.last ? text : text + " – " + character_name(s.last);
}

std::string joined(std::span<const KeyAction> rows, const char* separator) {
  std::string text;
  for (const KeyAction& action : rows)
    for (const Stroke& s : action.strokes)
      if (s.shown && (s.first || s.gesture || s.key != Key::character))
        text += (text.empty() ? "" : separator) + key_name(s);
  return text;
}

/// Returns true if a key press matches a stroke. Ignores Alt and Shift for named keys. Ignores Shift for
/// characters without Ctrl, because the character already depends on Shift. If `with_shift` is false, ignores
/// Shift for all characters.
bool matches(const Stroke& s, const KeyPress& p, bool with_shift) {
  if (s.gesture || s.key != p.key) return false;
  if (p.key != Key::character) return !p.ctrl;
  return p.character != 0 && p.character >= s.first && p.character <= s.last && s.ctrl == p.ctrl &&
         s.alt == (p.alt && !p.ctrl) && s.shift == (with_shift && p.ctrl && p.shift);
}

/// Returns the action of a key press, or null. First compares Shift too, then ignores it.
const KeyAction* find(const KeyPress& press) {
  for (const bool with_shift : {true, false})
    for (const KeyAction& action : kActions)
      for (const Stroke& stroke : action.strokes)
        if (matches(stroke, press, with_shift)) return &action;
  return nullptr;
}

}  // namespace

const std::vector<KeyHelp>& key_help() {
  static const std::vector<KeyHelp> lines = [] {
    std::vector<KeyHelp> all;
    for (const KeyAction *a = kActions, *end = a; a != std::end(kActions); a = end) {
      do ++end;
      while (end != std::end(kActions) && !end->help);
      all.push_back({joined({a, end}, "  "), a->help, a->group});
    }
    return all;
  }();
  return lines;
}

void toggle_pause(PanelContext& ctx) {
  const ViewerModel& m = ctx.model;
  if (m.ended && !m.seekable) return ctx.notify(false, "This source has ended and cannot be played again");
  ctx.send(Pause{!ctx.newest(&Pause::paused, m.stands_still())});
}

void step_frames(PanelContext& ctx, int frames) {
  if (frames < 0 && !ctx.model.seekable) return ctx.notify(false, "This source cannot step back");
  ctx.send(Step{frames});
}

void toggle_file_loop(PanelContext& ctx) {
  if (!ctx.model.seekable && !ctx.model.loop_file)
    return ctx.notify(false, "This source cannot seek, so it cannot loop");
  ctx.send(SetFileLoop{!ctx.newest(&SetFileLoop::on, ctx.model.loop_file)});
}

void remove_from_list(PanelContext& ctx, const std::string& id) {
  std::string& selected = ctx.state.graph.selected;
  const auto shown = ctx.editor().shown();
  const auto& nodes = shown->nodes;
  const auto at = std::ranges::find(nodes, id, &NodeView::id);
  if (at == nodes.end()) return;
  ctx.editor().remove(id);
  if (selected != id) return;
  selected = at + 1 != nodes.end() ? (at + 1)->id : at != nodes.begin() ? (at - 1)->id : std::string();
}

std::string key_text(Action action) {
  return joined({&row(action), 1}, " or ");
}

std::string key_hint(std::initializer_list<Action> actions) {
  std::string text;
  for (const Action action : actions) text += (text.empty() ? "" : " or ") + key_text(action);
  return text.size() == 1 ? "key " + text : text;
}

std::string node_key_hint(int number) {
  const Stroke& s = row(Action::switch_node).strokes[0];
  const char32_t c = s.first + static_cast<char32_t>(number - 1);
  return number >= 1 && c <= s.last ? "key " + character_name(c) : std::string();
}

void run_action(Action action, PanelContext& ctx, const Rect& area, ViewerRequests& requests) {
  const KeyAction& found = row(action);
  const KeyPress press;
  if (found.run) found.run({ctx, press, area, requests});
}

void handle_keys(PanelContext& ctx, const InputState& input, const Rect& area, ViewerRequests& requests) {
  ctx.state.bypass = false;
  // An open list or text field receives all keys, even before ImGui activates it.
  const UiState& s = ctx.state;
  const bool listed = s.graph.add_open || s.preset_menu.name_open || s.source.open;
  const bool typed = ImGui::GetIO().WantTextInput || !s.graph.renamed.empty() || s.text_edit.number;
  if (listed || typed) return;
  ctx.state.bypass = input.held(static_cast<char>(row(Action::bypass).strokes[0].first));
  for (KeyPress press : input.presses) {
    const KeyAction* action = find(press);
    if (!action && press.second_character) press.character = press.second_character, action = find(press);
    if (action && action->run && (action->repeat || !press.repeat)) action->run({ctx, press, area, requests});
  }
}

}  // namespace lensd::ui
