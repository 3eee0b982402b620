// The CPU side of draw_tracks: strips of rows, drawn in a worker's memory and blended over the input.
#pragma once

#include <cstddef>

#include "core/device/workers.hpp"
#include "core/image/view.hpp"
#include "kernels/draw_tracks/draw_tracks_math.hpp"

namespace lensd {

/// Rows of a strip: its keys at 1080p take 120 KiB, which stay in the L2.
inline constexpr int kDrawStrip = 16;
/// Keys from one row to the next; vectors may reach beyond the last pixel.
constexpr size_t draw_key_pitch(int width) {
  return (static_cast<size_t>(width) + 15) / 16 * 16 + 16;
}

struct DrawJob {
  ConstImageRef in;
  ImageRef out;
  const DrawTracksBlock* block;
  const DrawHistory* history;
  const DrawSpan* rows;  ///< of each place; first > last where nothing is drawn
  DrawGrid grid;
  int places, trail;
};

/// Rows that the marks of a place may cover.
DrawSpan rows_of_place(const DrawTracksBlock& block, const DrawGrid& grid, const uint32_t* points, int trail,
                       int height);

/// Whole strips of the band; `keys` has kDrawStrip × draw_key_pitch() places.
void draw_rows(const DrawJob& job, Band band, uint32_t* keys);

}  // namespace lensd
