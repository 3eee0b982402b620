// Draws the newest picture into the window.
//
//   Frame ── show() ──▶ DisplayPath ──▶ texture ── draw(area, view) ──▶ back buffer
//
// GL timer queries around draw() are read frames later, never waited for. UI thread only; the GL context
// must be current and outlive the presenter.
#pragma once

#include <memory>
#include <optional>

#include "ui/display_path.hpp"
#include "ui/placement.hpp"

namespace lensd::ui {

class Presenter {
 public:
  explicit Presenter(std::unique_ptr<DisplayPath> path);
  ~Presenter();

  /// Takes another way into the texture; the picture is gone until the next show().
  void set_path(std::unique_ptr<DisplayPath> path);
  const DisplayPath& path() const { return *path_; }

  /// Uploads a frame; it may be dropped when this returns.
  void show(const Frame& frame) { path_->upload(frame); }

  /// Clears the window (`framebuffer` pixels) to the neutral surround and draws the picture, clipped to
  /// `area`. Linear sampling; pixels become squares only where the user zoomed in beyond 2×.
  void draw(Extent framebuffer, const Rect& area, const PictureView& view);

  /// Size of the shown picture; 0×0 before the first.
  Extent picture() const { return path_->texture() ? path_->extent() : Extent{}; }

  /// GPU time of one earlier draw(), each once; nothing when none has come back since.
  std::optional<int64_t> take_draw_ns();

 private:
  struct Gl;
  std::unique_ptr<Gl> gl_;
  std::unique_ptr<DisplayPath> path_;
};

}  // namespace lensd::ui
