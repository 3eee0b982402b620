// The whole user interface, over and around the picture.
//
//   ViewerModel, InputState ──▶ draw() ──▶ Command values, and results such as requests() and picture_rect()
//
// One per window. Call from the UI thread only, inside an ImGui frame. The caller draws the presenter's
// picture into picture_rect() before the panels are rendered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/panel.hpp"

namespace lensd::ui {

class ViewerUi {
 public:
  /// Builds all panels for this frame, handles keys, mouse wheel and drags, and appends commands to `out`.
  void draw(const ViewerModel& model, const InputState& input, const Look& look, std::vector<Command>& out);

  /// Returns true if draw() has left input for the next frame. The caller should then not wait for events.
  bool behind() const { return behind_; }
  /// Returns the picture's area in framebuffer pixels, as of the last draw().
  const Rect& picture_rect() const { return picture_; }
  const PictureView& view() const { return state_.view; }
  /// Returns the part of picture_rect() that shows B: all of it, or the right half if A and B are side by
  /// side.
  Rect own_rect() const { return beside_ ? halves(picture_).second : picture_; }
  /// Returns how to draw the pictures, as of the last draw().
  CompareLook compare_look() const;
  /// Returns the picture to draw, as of the last draw(): a node's id or "source"; empty: the graph's output.
  /// It is B during a comparison, the source while the graph is bypassed, and the node's input while a crop
  /// node is edited.
  std::string first_picture() const;
  bool shows_source() const { return first_picture() == kSourceNode; }
  /// Returns A of the comparison that is shown, named as in first_picture(); nullopt if none is shown.
  std::optional<std::string> second_picture() const;
  /// Returns true if the tracks can be drawn over first_picture().
  bool tracks_fit() const;
  /// Returns the requests of the last draw().
  const ViewerRequests& requests() const { return requests_; }

  /// Returns the widgets' rectangles in the last draw(), in window coordinates. Names are like
  /// "graph/median/enabled", "transport/pause", "picture". Empty without track_widgets(true).
  const WidgetRects& widget_rects() const { return rects_; }
  void track_widgets(bool on) { tracking_ = on; }
  /// Returns widget_rects() as lines "name x y w h" in integers, for tests that click.
  std::string widget_map() const;

  UiState& state() { return state_; }
  const UiState& state() const { return state_; }
  /// Hides the panels when fullscreen begins, and restores them when it ends.
  void set_fullscreen(bool on);

 private:
  InputState in_typed_order(const InputState& input);
  /// Returns the comparison that is shown. A bypass hides it.
  CompareMode compare_mode() const { return state_.bypass ? CompareMode::off : state_.compare.mode; }
  void update_numbers(const ViewerModel& model);
  void end_hidden_fields();
  Rect placed_in(const PanelContext& ctx, const Rect& area) const;
  void draw_over_picture(PanelContext& ctx, const Rect& area);
  void handle_mouse(PanelContext& ctx);
  void hide_idle_pointer(bool over_picture, int64_t time_ns);

  UiState state_;
  std::vector<KeyPress> waiting_;  ///< presses that wait for ImGui's queued text
  bool behind_ = false;
  ViewerRequests requests_;
  Rect picture_;
  int64_t pointer_used_ns_ = 0;  ///< time of the last mouse movement, button or wheel step
  WidgetRects rects_;
  bool tracking_ = false, panning_ = false, beside_ = false;  ///< beside_: A and B are side by side
};

}  // namespace lensd::ui
