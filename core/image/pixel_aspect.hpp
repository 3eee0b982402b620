// The shape of pixels. Analogue formats and DV have pixels that are not square.
#pragma once

namespace lensd {

/// Ratio of width to height of a displayed pixel, in lowest terms.
struct PixelAspect {
  int width = 1, height = 1;
  bool operator==(const PixelAspect&) const = default;

  double ratio() const { return static_cast<double>(width) / height; }
  bool square() const { return width == height; }
  /// Returns the aspect of a picture rotated by 90°.
  PixelAspect turned() const { return {height, width}; }
};

}  // namespace lensd
