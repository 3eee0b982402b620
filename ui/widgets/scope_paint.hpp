// Counts to pixels: waveform, parade and vectorscope as pictures of light on a dark screen.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/scope_request.hpp"

namespace lensd::ui {

/// Paints a reading; `pixels` is RGBA8 with the brightness as alpha, rows from the top. Kinds that are no
/// pictures, and empty readings, give an empty one.
Extent paint_scope(const ScopeReading& reading, std::vector<uint32_t>& pixels);

/// Where a colour (0 to 1) lies on the vectorscope: Cb to the right and Cr upwards, 0 to 1.
struct ScopePoint {
  float x, y;
};
ScopePoint vectorscope_point(YuvMatrix matrix, double r, double g, double b);

}  // namespace lensd::ui
