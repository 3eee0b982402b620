// Pictures that move in a known way, for tests of tracking: a texture that is defined at every real position,
// seen through an affine map.
#pragma once

#include <string>
#include <vector>

#include "core/image/image.hpp"

namespace lensd::bench {

struct Point {
  double x = 0, y = 0;
};

/// Where a point of the first picture is in the other one: turned by `degrees` and scaled by `zoom` around
/// the middle of the picture, then shifted by (x, y).
struct Motion {
  std::string name;
  double x = 0, y = 0, degrees = 0, zoom = 1;

  Point apply(Point p, Extent extent) const;
  Point undo(Point p, Extent extent) const;
  /// This motion `n` times over: each number by itself, so that shifts happen after turns.
  Motion times(double n) const;
};

/// Shifts to 20 px, turns and zooms as FILTERS promises an accuracy for.
const std::vector<Motion>& motions();

/// How the picture is taken.
struct Exposure {
  double noise = 0;  ///< standard deviation in grey levels
  double gain = 1, bias = 0;
  unsigned seed = 1;  ///< of the noise
};

/// The texture after `motion`: plane waves of 6 to 100 pixels around 128, a few times 10 levels strong.
Image textured(Extent extent, const Motion& motion, const Exposure& exposure = {});

}  // namespace lensd::bench
