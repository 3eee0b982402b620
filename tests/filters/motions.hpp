// Motions for tests of tracking.
#pragma once

#include <cmath>
#include <vector>

#include "app/commands/bench/motion.hpp"

namespace lensd::bench {

/// Returns shifts up to 20 px, rotations and zooms for which the accuracy of klt is specified.
inline const std::vector<Motion>& motions() {
  static const std::vector<Motion> all{{.name = "shift 0.3, 0.7", .x = 0.3, .y = 0.7},
                                       {.name = "shift 5.5, -2.25", .x = 5.5, .y = -2.25},
                                       {.name = "shift -20, 0", .x = -20},
                                       {.name = "shift 12, 16", .x = 12, .y = 16},
                                       {.name = "turn 1 deg", .degrees = 1},
                                       {.name = "turn -0.5 deg", .degrees = -0.5},
                                       {.name = "zoom 1.02", .zoom = 1.02},
                                       {.name = "zoom 0.985", .zoom = 0.985}};
  return all;
}

/// Returns the motion with shift and rotation multiplied by `n`, and the zoom to the power of `n`. The shift
/// is still applied after the rotation.
inline Motion times(const Motion& m, double n) {
  return {m.name, m.x * n, m.y * n, m.degrees * n, std::pow(m.zoom, n)};
}

}  // namespace lensd::bench
