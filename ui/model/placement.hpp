// Computes the picture's position in the window: fit, zoom, pan. Pure functions; units are framebuffer
// pixels.
#pragma once

#include <span>
#include <utility>

#include "core/image/view.hpp"
#include "ui/widgets/rect.hpp"

namespace lensd::ui {

/// Zoom and centre, independent of the window's size, so that a resize keeps the centre.
struct PictureView {
  double zoom = 1;                        ///< factor relative to the size that fits the area
  double centre_x = 0.5, centre_y = 0.5;  ///< point of the picture (0 to 1) at the area's centre
  double pixel_aspect = 1;                ///< width of the picture's pixels relative to their height
  bool fits() const { return zoom == 1 && centre_x == 0.5 && centre_y == 0.5; }
};

struct Placement {
  Rect picture;      ///< may exceed the area
  double scale = 1;  ///< screen pixels per picture pixel, vertically
};

/// Returns the areas of A and B side by side, with a gap between them.
std::pair<Rect, Rect> halves(const Rect& area);

/// Returns the scale at which the whole picture fits into `area`.
double fit_scale(Extent picture, const Rect& area, double pixel_aspect = 1);

/// Returns the picture's rectangle and scale. Rounds corners to whole pixels, so that 1:1 shows exact pixels.
Placement place(Extent picture, const Rect& area, const PictureView& view);

/// An aspect ratio that the user can choose instead of the source's.
struct AspectChoice {
  const char* name;
  double ratio;  ///< aspect ratio of the whole picture; 0: the source's; negative: square pixels
};
std::span<const AspectChoice> aspect_choices();
/// Returns the pixel aspect that gives `picture` the chosen ratio. `own`: the picture's own pixel aspect.
double chosen_pixel_aspect(const AspectChoice& choice, double own, Extent picture);

/// Returns the view zoomed by `factor` around (x, y). Snaps to fit and to 1:1.
PictureView zoomed_at(Extent picture, const Rect& area, const PictureView& view, float x, float y,
                      double factor);
/// Returns the view with the picture moved by (dx, dy) screen pixels.
PictureView panned(Extent picture, const Rect& area, const PictureView& view, float dx, float dy);
/// Returns the view with the same centre and one screen pixel per picture row.
PictureView actual_size(Extent picture, const Rect& area, const PictureView& view);

}  // namespace lensd::ui
