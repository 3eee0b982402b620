// draw_tracks on the CPU: draws strips of rows in a worker's memory and blends them over the input.
#pragma once

#include <cstddef>

#include "core/device/workers.hpp"
#include "core/image/view.hpp"
#include "kernels/draw_tracks/draw_tracks_math.hpp"

namespace lensd {

/// Number of rows of a strip. At 1080p the strip's keys take 121 KiB, which fit in the L2 cache.
inline constexpr int kDrawStrip = 16;
/// Returns the number of keys per row; vectors may extend beyond the last pixel.
constexpr size_t draw_key_pitch(int width) {
  return (static_cast<size_t>(width) + 15) / 16 * 16 + 16;
}

struct DrawJob {
  ConstImageRef in;
  ImageRef out;
  const DrawTracksBlock* block;
  const DrawHistory* history;
  const DrawSpan* rows;  ///< rows of each slot's marks; first > last if nothing is drawn
  DrawGrid grid;
  int slots, trail;
};

/// Returns the rows that the marks of a slot may cover.
DrawSpan rows_of_slot(const DrawTracksBlock& block, const DrawGrid& grid, const uint32_t* points, int trail,
                      int height);

/// Draws the band strip by strip and blends it over the input. `keys` is temporary memory for kDrawStrip ×
/// draw_key_pitch() keys.
void draw_rows(const DrawJob& job, Band band, uint32_t* keys);

}  // namespace lensd
