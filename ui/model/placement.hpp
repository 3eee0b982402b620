// Where the picture goes: fit, zoom, pan. Pure arithmetic in framebuffer pixels.
#pragma once

#include <utility>

#include "core/image/view.hpp"
#include "ui/widgets/rect.hpp"

namespace lensd::ui {

/// What the user looks at. Independent of the window's size, so that a resize keeps the same spot in view.
struct PictureView {
  double zoom = 1;                        ///< times the size that fits
  double centre_x = 0.5, centre_y = 0.5;  ///< point of the picture (0 to 1) at the area's centre
  bool fits() const { return zoom == 1 && centre_x == 0.5 && centre_y == 0.5; }
};

struct Placement {
  Rect picture;      ///< may reach beyond the area
  double scale = 1;  ///< screen pixels of one picture pixel
};

/// The areas of A and B side by side, with a gap between them.
std::pair<Rect, Rect> halves(const Rect& area);

/// Screen pixels of a picture pixel at which the whole picture just fits into `area`.
double fit_scale(Extent picture, const Rect& area);

/// Corners lie on whole pixels, so that 1:1 shows every pixel exactly.
Placement place(Extent picture, const Rect& area, const PictureView& view);

/// Zooms by `factor` and keeps the picture's point under (x, y) where it is; snaps to fit and to 1:1.
PictureView zoomed_at(Extent picture, const Rect& area, const PictureView& view, float x, float y,
                      double factor);
/// Moves the picture by (dx, dy) screen pixels.
PictureView panned(Extent picture, const Rect& area, const PictureView& view, float dx, float dy);
/// One picture pixel on one screen pixel, around the same centre.
PictureView actual_size(Extent picture, const Rect& area, const PictureView& view);

}  // namespace lensd::ui
