// Tracks: points that are followed from frame to frame, as plain data that both backends write and read.
//
//   klt ── TrackTable in its statistics ──▶ draw_tracks, stabilize (PassArgs::tracks, same frame)
//                                       └─▶ Frame::tracks() ──▶ --tracks, panel, overlay, control
//
// A track keeps its place in the table from its first frame to its last, so that readers may keep histories
// by place; `id` tells a place's tenants apart. Plain values in host or device memory; shared freely once
// written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

/// What became of a track in this frame. A lost one is listed for one frame, then its place is empty.
enum class TrackStatus : uint32_t {
  empty = 0,          ///< the place has no track
  fresh = 1,          ///< found in this frame
  tracked = 2,        ///< followed from the frame before
  lost_outside = 3,   ///< its point left the picture
  lost_texture = 4,   ///< smallest eigenvalue under the least that is allowed
  lost_residual = 5,  ///< the patches differ too much, or the search did not settle
  lost_return = 6,    ///< forward-backward error over the threshold
  lost_drift = 7,     ///< no longer looks as in its first frame
  lost_crowded = 8,   ///< came closer to an older track than the least distance
  lost_cut = 9,       ///< a seek, a cut or another picture format ended all tracks
};
inline constexpr int kTrackStatuses = 10;

constexpr const char* name(TrackStatus status) {
  constexpr const char* names[kTrackStatuses] = {
      "empty",         "new",         "tracked",    "lost:outside", "lost:texture",
      "lost:residual", "lost:return", "lost:drift", "lost:crowded", "lost:cut"};
  return names[static_cast<uint32_t>(status) % kTrackStatuses];
}
LENSD_HD constexpr bool is_lost(TrackStatus status) {
  return status >= TrackStatus::lost_outside;
}
LENSD_HD constexpr bool is_alive(TrackStatus status) {
  return status == TrackStatus::fresh || status == TrackStatus::tracked;
}

/// One track in one frame. Positions in pixels; pixel centres are integers, (0, 0) is the top left one's.
struct Track {
  uint32_t id = 0;  ///< counts from 1; never used again in a run
  TrackStatus status = TrackStatus::empty;
  float x = 0, y = 0;
  float previous_x = 0, previous_y = 0;  ///< in the frame before; of a new track: x and y
  uint32_t age = 0;                      ///< frames since it was found
  float residual = 0;                    ///< mean absolute difference of the patches, in grey levels
  float return_error = 0;                ///< forward-backward error in pixels; 0 where it is not checked
  float strength = 0;  ///< smallest eigenvalue where it was found, normalised as `quality` is
};
static_assert(sizeof(Track) == 40);

/// Largest number of places (FILTERS: max_features).
inline constexpr int kMaxTracks = 16384;

/// Header of a table; `capacity` tracks follow it without a gap.
struct TrackTable {
  int64_t frame = -1;  ///< index of the frame
  int64_t pts_ns = 0;
  uint32_t capacity = 0;                 ///< places that follow
  uint32_t alive = 0;                    ///< tracks with is_alive()
  uint32_t counts[kTrackStatuses] = {};  ///< places by status
  uint32_t next_id = 1;                  ///< of the next new track
  uint32_t median_age = 0;               ///< of the living ones, in frames
  Extent picture;                        ///< size of the picture they live in
  uint32_t detected = 0;                 ///< 1: corners were looked for in this frame
  uint32_t reserved = 0;

  LENSD_HD const Track* tracks() const { return reinterpret_cast<const Track*>(this + 1); }
  LENSD_HD Track* tracks() { return reinterpret_cast<Track*>(this + 1); }
};
static_assert(sizeof(TrackTable) % alignof(int64_t) == 0);

/// Bytes of a table with that many places.
constexpr size_t track_table_bytes(int capacity) {
  return sizeof(TrackTable) + static_cast<size_t>(capacity) * sizeof(Track);
}

}  // namespace lensd
