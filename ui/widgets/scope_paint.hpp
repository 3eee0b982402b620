// Converts counts to pixels: waveform, parade and vectorscope.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/scope_request.hpp"

namespace lensd::ui {

/// Paints a reading into `pixels`: RGBA8, top row first, with the brightness as alpha. Returns the size of
/// the painting, which is empty for histograms and incomplete readings.
Extent paint_scope(const ScopeReading& reading, std::vector<uint32_t>& pixels);

/// A position on the vectorscope: Cb to the right and Cr upwards, 0 to 1.
struct ScopePoint {
  float x, y;
};
ScopePoint vectorscope_point(YuvMatrix matrix, double r, double g, double b);

}  // namespace lensd::ui
