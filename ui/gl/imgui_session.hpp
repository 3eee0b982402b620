// Dear ImGui on a Window: context, backends, fonts at the monitor's scale.
//
//   begin() ── ViewerUi::draw ── Presenter::draw ── end()      per display frame, UI thread
#pragma once

#include <cstdint>
#include <vector>

#include "ui/gl/window.hpp"
#include "ui/widgets/theme.hpp"

namespace lensd::ui {

class ImGuiSession {
 public:
  /// One at a time; the window must outlive it.
  explicit ImGuiSession(Window& window);
  ~ImGuiSession();
  ImGuiSession(const ImGuiSession&) = delete;
  ImGuiSession& operator=(const ImGuiSession&) = delete;

  /// Starts a frame; makes the fonts anew when the scale has changed.
  void begin();
  /// Draws the panels over what is in the back buffer.
  void end();
  const Look& look() const { return look_; }
  /// The mouse did more than one frame can show: the next one should not wait for input. With Dear ImGui from
  /// 1.87 on that is its own matter, and ViewerUi::behind()'s.
  bool behind() const { return !mouse_steps_.empty(); }

 private:
  void fit_to_scale();
  void take_input();
  void step_mouse();

  Window& window_;
  Look look_;
  float layout_scale_ = 0, raster_scale_ = 0;
  int cursor_ = 0;           ///< ImGui's name of its shape, as the window system was last told
  bool was_touched_ = true;  ///< the window, before the last frame
  int64_t last_begin_ns_ = 0;
  std::vector<MouseStep> mouse_steps_;  ///< that are to be shown yet
};

}  // namespace lensd::ui
