#include "ui/model/placement.hpp"

#include <algorithm>
#include <cmath>

namespace lensd::ui {
namespace {

constexpr double kMinZoom = 0.1;    // minimum zoom, relative to the size that fits
constexpr double kMaxScale = 64.0;  // maximum number of screen pixels per picture pixel
constexpr double kSnap = 0.02;      // relative distance at which zoom snaps to fit and 1:1

/// Returns the minimum zoom. It allows 1:1 for pictures that are much smaller than the area.
double min_zoom(double fit) {
  return std::min(kMinZoom, 1 / fit);
}

double max_zoom(double fit) {
  return std::max(1.0, kMaxScale / fit);
}

}  // namespace

std::pair<Rect, Rect> halves(const Rect& area) {
  constexpr float kGap = 2;
  const float width = std::max(std::floor((area.w - kGap) / 2), 1.f);
  return {{area.x, area.y, width, area.h}, {area.x + area.w - width, area.y, width, area.h}};
}

double fit_scale(Extent picture, const Rect& area, double pixel_aspect) {
  if (picture.width < 1 || picture.height < 1) return 1;
  const double x = static_cast<double>(area.w) / (picture.width * pixel_aspect),
               y = static_cast<double>(area.h) / picture.height;
  return std::max(std::min(x, y), 1e-4);
}

Placement place(Extent picture, const Rect& area, const PictureView& view) {
  const double scale = fit_scale(picture, area, view.pixel_aspect) * view.zoom;
  const double w = std::max(1.0, std::round(picture.width * view.pixel_aspect * scale));
  const double h = std::max(1.0, std::round(picture.height * scale));
  Placement result;
  result.scale = scale;
  result.picture = {static_cast<float>(std::floor(area.x + area.w * 0.5 - w * view.centre_x)),
                    static_cast<float>(std::floor(area.y + area.h * 0.5 - h * view.centre_y)),
                    static_cast<float>(w), static_cast<float>(h)};
  return result;
}

PictureView zoomed_at(Extent picture, const Rect& area, const PictureView& view, float x, float y,
                      double factor) {
  if (picture.width < 1 || picture.height < 1) return view;
  const double fit = fit_scale(picture, area, view.pixel_aspect);
  double zoom = std::clamp(view.zoom * factor, min_zoom(fit), max_zoom(fit));
  for (const double stop : {1.0, 1.0 / fit})
    if (std::abs(zoom / stop - 1) < kSnap && std::abs(view.zoom / stop - 1) >= kSnap) zoom = stop;
  if (zoom == 1) return {.pixel_aspect = view.pixel_aspect};  // at fit the picture is centred
  // Use exact sizes, because the rounded sizes of place() would let the point at (x, y) drift.
  const double from_centre_x = area.x + area.w * 0.5 - x, from_centre_y = area.y + area.h * 0.5 - y;
  const double pixel_change = 1 / (fit * zoom) - 1 / (fit * view.zoom);
  PictureView result = view;
  result.zoom = zoom;
  result.centre_x = std::clamp(
      view.centre_x + from_centre_x * pixel_change / (picture.width * view.pixel_aspect), 0.0, 1.0);
  result.centre_y = std::clamp(view.centre_y + from_centre_y * pixel_change / picture.height, 0.0, 1.0);
  return result;
}

PictureView panned(Extent picture, const Rect& area, const PictureView& view, float dx, float dy) {
  const double scale = fit_scale(picture, area, view.pixel_aspect) * view.zoom;
  PictureView result = view;
  result.centre_x =
      std::clamp(view.centre_x - dx / (scale * view.pixel_aspect * std::max(picture.width, 1)), 0.0, 1.0);
  result.centre_y = std::clamp(view.centre_y - dy / (scale * std::max(picture.height, 1)), 0.0, 1.0);
  return result;
}

PictureView actual_size(Extent picture, const Rect& area, const PictureView& view) {
  PictureView result = view;
  result.zoom = 1.0 / fit_scale(picture, area, view.pixel_aspect);
  return result;
}

std::span<const AspectChoice> aspect_choices() {
  static constexpr AspectChoice kChoices[] = {{"as the source says", 0},
                                              {"16:9", 16.0 / 9},
                                              {"4:3", 4.0 / 3},
                                              {"2.35:1", 2.35},
                                              {"square pixels", -1}};
  return kChoices;
}

double chosen_pixel_aspect(const AspectChoice& choice, double own, Extent picture) {
  if (choice.ratio < 0) return 1;
  if (choice.ratio == 0 || picture.width < 1 || picture.height < 1) return own;
  return choice.ratio * picture.height / picture.width;
}

}  // namespace lensd::ui
