// The pixel aspect of a graph's output.
#pragma once

#include "core/graph/plan.hpp"
#include "core/media/pixel_aspect.hpp"

namespace lensd {

/// `source` is the aspect of the upright source. Quarter turns exchange width and height. A resize of pixels
/// that are not square keeps the shape of the displayed picture, so that 720×576 pixels of 16:11 become
/// square at 1048×576.
PixelAspect output_aspect(const Plan& plan, PixelAspect source);

}  // namespace lensd
