// Draws the newest picture into the window.
//
//   Frame ── show() ──▶ DisplayPath ──▶ texture ── draw(area, view) ──▶ back buffer
//         └─ show_second() ──▶ another one, for comparing
//
// GL timer queries around draw() are read frames later, never waited for. UI thread only; the GL context
// must be current and outlive the presenter.
#pragma once

#include <memory>
#include <optional>

#include "ui/gl/display_path.hpp"
#include "ui/model/compare.hpp"
#include "ui/model/placement.hpp"

namespace lensd::ui {

class Presenter {
 public:
  /// `second` brings the picture to compare with; it may be null where nothing is compared.
  explicit Presenter(std::unique_ptr<DisplayPath> path, std::unique_ptr<DisplayPath> second = nullptr);
  ~Presenter();

  const DisplayPath& path() const { return *path_; }

  /// Uploads an image of a frame; the frame may be dropped when this returns.
  void show(const Frame& frame, int image = 0) { path_->upload(frame, image); }
  /// The picture A of a comparison, or none from now on (a negative image).
  void show_second(const Frame& frame, int image);

  /// Clears the window (`framebuffer` pixels) to the neutral surround and draws the picture, clipped to
  /// `area`. Linear sampling; pixels become squares only where the user zoomed in beyond 2×.
  void draw(Extent framebuffer, const Rect& area, const PictureView& view, const CompareLook& look = {});

  /// Size of the shown picture; 0×0 before the first.
  Extent picture() const { return path_->texture() ? path_->extent() : Extent{}; }

  /// GPU time of one earlier draw(), each once; nothing when none has come back since.
  std::optional<int64_t> take_draw_ns();

 private:
  struct Gl;
  void draw_picture(Extent framebuffer, const Rect& area, const PictureView& view, const CompareLook& look);

  std::unique_ptr<Gl> gl_;
  std::unique_ptr<DisplayPath> path_, second_;
  bool has_second_ = false;
};

}  // namespace lensd::ui
