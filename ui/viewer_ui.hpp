// The whole interface over and around the picture.
//
//   ViewerModel, InputState ──▶ draw() ──▶ Command values, requests(), picture_rect(), view(), bypass()
//
// One per window, UI thread only; ImGui's frame must have begun. It draws no pictures: the caller draws the
// presenter's picture into picture_rect() before the panels are rendered.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ui/keys.hpp"

namespace lensd::ui {

class ViewerUi {
 public:
  /// Builds all panels for this frame, handles keys, wheel and drag, and appends to `out`.
  void draw(const ViewerModel& model, const InputState& input, const Look& look, std::vector<Command>& out);

  /// Some of the input is left for the next frame, which should come soon.
  bool behind() const { return behind_; }
  /// What is left for the picture, in framebuffer pixels, as of the last draw().
  const Rect& picture_rect() const { return picture_; }
  const PictureView& view() const { return state_.view; }
  /// The part of it in which B lies: all of it, or the right half where A and B are side by side.
  Rect own_rect() const { return beside_ ? halves(picture_).second : picture_; }
  /// How the pictures are to be drawn as of the last draw(), and which: node ids, "source", or empty for the
  /// graph's output; the second one may be empty for none.
  CompareLook compare_look() const;
  std::string first_picture() const, second_picture() const;
  /// What the last draw() asks of the program.
  const ViewerRequests& requests() const { return requests_; }

  /// Where widgets were in the last draw(), in window coordinates, by names like "graph/median/enabled",
  /// "graph/median/radius", "transport/pause", "picture". Empty unless asked for with track_widgets(true).
  const WidgetRects& widget_rects() const { return rects_; }
  void track_widgets(bool on) { tracking_ = on; }
  /// The rectangles as lines "name x y w h", whole units; for tests that click.
  std::string widget_map() const;

  UiState& state() { return state_; }

 private:
  struct Layout;
  InputState in_order(const InputState& input);
  Layout lay_out(const Look& look) const;
  void hold_numbers(const ViewerModel& model);
  void draw_sides(PanelContext& ctx, const Layout& layout);
  /// The part of the picture's area (framebuffer pixels) that `view()` is of: side by side, A's or B's half.
  Rect half_at(float x) const;
  Rect placed_in(const PanelContext& ctx, const Rect& area) const;
  void draw_over_picture(PanelContext& ctx, const Rect& area);
  void handle_mouse(PanelContext& ctx);

  UiState state_;
  std::vector<KeyPress> waiting_;  ///< for text that ImGui has not taken yet
  bool behind_ = false;
  ViewerRequests requests_;
  Rect picture_;
  WidgetRects rects_;
  bool tracking_ = false, panning_ = false, beside_ = false;  ///< beside_: A and B are side by side
};

}  // namespace lensd::ui
