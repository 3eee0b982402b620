// Pictures with known motion, for tests and benchmarks of tracking. The texture is defined at all real
// positions and is sampled through a similarity transform.
#pragma once

#include <string>

#include "core/image/image.hpp"

namespace lensd::bench {

struct Point {
  double x = 0, y = 0;
};

/// Motion from the first picture to the second: rotation by `degrees` and scaling by `zoom` around the centre
/// of the picture, then a shift by (x, y).
struct Motion {
  std::string name;
  double x = 0, y = 0, degrees = 0, zoom = 1;

  Point apply(Point p, Extent extent) const;
  Point undo(Point p, Extent extent) const;
};

/// Brightness and noise of the camera.
struct Exposure {
  double noise = 0;  ///< standard deviation in grey levels
  double gain = 1, bias = 0;
  unsigned seed = 1;                        ///< seed of the noise
  PixelFormat format = PixelFormat::gray8;  ///< or gray16, with grey levels scaled by 257
};

/// Returns the texture after `motion`: plane waves around grey level 128, with wavelengths of 6 to 100 pixels
/// and amplitudes of 6 to 13 levels.
Image textured(Extent extent, const Motion& motion, const Exposure& exposure = {});

}  // namespace lensd::bench
