// Entries of klt's table, shared by both backends and the oracle.
#pragma once

#include "kernels/klt/klt_math.hpp"

namespace lensd {

/// Fills in the table's header before detection, except for the counts and `detected`.
LENSD_HD inline void klt_start_header(TrackTable& table, const TrackTable& before, const KltShape& shape,
                                      const FrameBlock& frame) {
  table.frame = frame.index, table.pts_ns = frame.pts_ns;
  table.capacity = static_cast<uint32_t>(shape.capacity);
  table.next_id = before.next_id > 1 ? before.next_id : 1;
  table.picture = shape.level[0].extent;
}
/// Stores pixels begin, begin + stride, … of the first patch of the new track in `slot`. The thread
/// with begin = 0 also stores the position of the corner. Border rule: replicate, but KltFirstPatch ignores
/// window pixels outside the picture.
template <class Pixel>
LENSD_HD void klt_keep_patch(const KltShape& shape, uint8_t* after, uint8_t* const halves[2], int slot,
                             const Corner& corner, int begin = 0, int stride = 1) {
  const auto picture = shape.view<Pixel>(static_cast<const uint8_t*>(after), 0);
  Pixel* patch = shape.patch<Pixel>(halves, slot);
  const int side = shape.window + 2, reach = shape.window / 2 + 1;
  for (int i = begin; i < side * side; i += stride) {
    const int x = corner.x + i % side - reach, y = corner.y + i / side - reach;
    const int right = picture.extent.width - 1, bottom = picture.extent.height - 1;
    patch[i] = picture.at(x < 0 ? 0 : x > right ? right : x, y < 0 ? 0 : y > bottom ? bottom : y);
  }
  KltFirst first;
  first.x = corner.x, first.y = corner.y;
  if (begin == 0) shape.first(after)[slot] = first;
}
/// Returns a track of age 0 at a corner.
LENSD_HD inline Track klt_new_track(const Corner& corner, uint32_t id, uint32_t strongest) {
  Track track;
  track.id = id, track.status = TrackStatus::fresh;
  track.x = track.previous_x = static_cast<float>(corner.x);
  track.y = track.previous_y = static_cast<float>(corner.y);
  track.strength = klt_float(corner.strength) / klt_float(strongest);
  return track;
}

}  // namespace lensd
