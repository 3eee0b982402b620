// The CPU side of klt's table: what is done by one thread, before and after corners are looked for.
#pragma once

#include "kernels/klt/klt_math.hpp"

namespace lensd {

struct KltTableJob {
  const KltShape* shape;
  const uint8_t* before;  ///< half of the state
  uint8_t* after;
  uint8_t* halves[2];
  const KltBlock* block;
  const FrameBlock* frame;
  TrackTable* table;  ///< of this frame; klt_follow_places() has filled in the tracks
  const Corner* found;
  const CornerCount* count;
  uint32_t* wanted;
  uint8_t* scratch;  ///< klt_table_scratch_bytes()
};

size_t klt_table_scratch_bytes(Extent extent, int capacity);
/// Ends crowded tracks, fills in the header and says how many corners are wanted.
void klt_settle(const KltTableJob& job);
/// Gives the corners found their places, completes the header and keeps the table for the next frame.
void klt_finish(const KltTableJob& job);

/// The header before corners are looked for, counts aside.
LENSD_HD inline void klt_start_header(TrackTable& table, const TrackTable& before, const KltShape& shape,
                                      const FrameBlock& frame) {
  table.frame = frame.index, table.pts_ns = frame.pts_ns;
  table.capacity = static_cast<uint32_t>(shape.capacity);
  table.next_id = before.next_id > 1 ? before.next_id : 1;
  table.picture = shape.level[0].extent;
}
/// Copies a new track's first patch; pixels begin, begin + stride, … of it. Beyond the picture the rim is
/// repeated, where nothing counts.
LENSD_HD inline void klt_keep_patch(const KltShape& shape, const ImageView<const uint8_t>& picture,
                                    const Corner& corner, uint8_t* patch, int begin, int stride) {
  const int side = shape.window + 2, reach = shape.window / 2 + 1;
  for (int i = begin; i < side * side; i += stride) {
    const int x = corner.x + i % side - reach, y = corner.y + i / side - reach;
    const int right = picture.extent.width - 1, bottom = picture.extent.height - 1;
    patch[i] = picture.at(x < 0 ? 0 : x > right ? right : x, y < 0 ? 0 : y > bottom ? bottom : y);
  }
}
/// A track of age 0 at a corner.
LENSD_HD inline Track klt_new_track(const Corner& corner, uint32_t id, uint32_t strongest) {
  Track track;
  track.id = id, track.status = TrackStatus::fresh;
  track.x = track.previous_x = static_cast<float>(corner.x);
  track.y = track.previous_y = static_cast<float>(corner.y);
  track.strength = klt_float(corner.strength) / klt_float(strongest);
  return track;
}

}  // namespace lensd
