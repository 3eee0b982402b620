// The pixel aspect of a graph's output.
#pragma once

#include "core/graph/plan.hpp"
#include "core/image/pixel_aspect.hpp"

namespace lensd {

/// Returns the pixel aspect of the plan's output. `source`: pixel aspect of the upright source. If it is
/// square, the output's is square, too. Otherwise a rotation by 90° swaps width and height, and a resize
/// keeps the shape of the displayed picture: a pixel aspect of 16:11 at 720×576 becomes 1440:1441 at
/// 1048×576.
PixelAspect output_aspect(const Plan& plan, PixelAspect source);

}  // namespace lensd
