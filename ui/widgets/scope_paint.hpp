// Converts counts to pixels: waveform, parade and vectorscope.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/scope_request.hpp"

namespace lensd::ui {

/// Paints a reading into `pixels`: RGBA8, top row first, with the brightness as alpha. Returns the size of
/// the painting, which is empty for histograms and incomplete readings.
Extent paint_scope(const ScopeReading& reading, std::vector<uint32_t>& pixels);

/// Returns the number of painted columns of each channel of a waveform or parade.
int painted_columns(ScopeKind kind, int width);
/// The scope columns [first, last) that one painted column shows.
struct ColumnRange {
  int first, last;
};
ColumnRange scope_columns_of(int painted_column, int painted_columns, int width);

/// A position on the vectorscope: Cb to the right and Cr upwards, 0 to 1.
struct ScopePoint {
  float x, y;
};
/// Returns the position of the colour (r, g, b), each from 0 to 1, on a vectorscope with `levels` levels.
ScopePoint vectorscope_point(YuvMatrix matrix, int levels, double r, double g, double b);

}  // namespace lensd::ui
