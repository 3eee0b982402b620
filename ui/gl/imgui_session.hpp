// Runs Dear ImGui on a Window: context, backends, and fonts at the monitor's scale.
//
//   begin() ── ViewerUi::draw ── Presenter::draw ── end()      per display frame, UI thread
#pragma once

#include <cstdint>
#include <vector>

#include "ui/gl/window.hpp"
#include "ui/widgets/extra_glyphs.hpp"
#include "ui/widgets/theme.hpp"

namespace lensd::ui {

class ImGuiSession {
 public:
  /// Creates the ImGui context. Only one session may exist. The window must outlive the session.
  explicit ImGuiSession(Window& window);
  ~ImGuiSession();
  ImGuiSession(const ImGuiSession&) = delete;
  ImGuiSession& operator=(const ImGuiSession&) = delete;

  /// Starts a frame. Rebuilds the fonts if the scale has changed or texts need further characters.
  void begin();
  /// Draws the panels over the contents of the back buffer.
  void end();
  const Look& look() const { return look_; }
  /// Returns true if mouse steps are left to replay: the next frame should then not wait for input. Always
  /// false with Dear ImGui 1.87 and later, which queues input itself (see ViewerUi::behind()).
  bool behind() const { return !mouse_steps_.empty(); }

 private:
  void fit_fonts();
  void take_input();
  void step_mouse();

  Window& window_;
  Look look_;
  ExtraGlyphs extra_glyphs_;
  float layout_scale_ = 0, raster_scale_ = 0;
  int cursor_ = 0;         ///< ImGui's cursor shape in the last frame
  bool had_input_ = true;  ///< the last frame had input
  int64_t last_begin_ns_ = 0;
  std::vector<MouseStep> mouse_steps_;  ///< mouse steps that were not replayed yet
};

}  // namespace lensd::ui
