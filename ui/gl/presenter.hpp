// Draws the newest picture into the window.
//
//   Frame ── show() ──▶ DisplayPath ──▶ texture ── draw(area, view) ──▶ back buffer
//         └─ show_second() ──▶ a second DisplayPath, for comparisons
//
// Results of GL timer queries around draw() are read some frames later, without waiting. Call from the UI
// thread only. The GL context must be current and outlive the presenter.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "ui/gl/display_path.hpp"
#include "ui/model/compare.hpp"
#include "ui/model/placement.hpp"

namespace lensd::ui {

class Presenter {
 public:
  /// `path` uploads the picture. `second` uploads the second picture and may be null.
  explicit Presenter(std::unique_ptr<DisplayPath> path, std::unique_ptr<DisplayPath> second = nullptr);
  ~Presenter();

  /// Uploads an image of a frame. The frame may be released afterwards.
  void show(const Frame& frame, int image = 0) { path_->upload(frame, image); }
  /// Uploads the second picture: A of a comparison. A negative `image` removes it.
  void show_second(const Frame& frame, int image);

  /// Sets the conversion of the pictures' values to display colours. `light`: the bytes of a DeepLight
  /// (kernels/colour/deep_light.hpp); empty: the values are display colours.
  void convert_colours(std::span<const std::byte> light);

  /// Sets whether the pictures' alpha is transparency. Transparent pixels show a checkerboard.
  void show_transparency(bool on) { transparent_ = on; }

  /// Clears the window, whose size is `framebuffer`, to neutral grey and draws the picture, clipped to
  /// `area`. Filters linearly, or with nearest neighbour at high magnification.
  void draw(Extent framebuffer, const Rect& area, const PictureView& view, const CompareLook& look = {});

  /// Returns the size of the shown picture; 0×0 before the first one.
  Extent picture() const { return path_->texture() ? path_->extent() : Extent{}; }

  /// Returns the GPU time of an earlier draw() in nanoseconds. Returns each result once. Returns nullopt if
  /// no new result is available.
  std::optional<int64_t> take_draw_ns();

 private:
  struct Gl;
  void draw_picture(Extent framebuffer, const Rect& area, const PictureView& view, const CompareLook& look);

  std::unique_ptr<Gl> gl_;
  std::unique_ptr<DisplayPath> path_, second_;
  bool has_second_ = false, transparent_ = false;
};

}  // namespace lensd::ui
