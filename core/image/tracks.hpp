// Tracks: points followed from frame to frame, as plain data for both backends.
//
//   klt ── TrackTable in its statistics ──▶ draw_tracks, stabilize (PassArgs::tracks, same frame)
//                                       └─▶ Frame::tracks() ──▶ --tracks, panel, overlay, control
//
// A track keeps its slot in the table from its first frame to its last, so that readers can store histories
// by slot. Later tracks reuse the slot with another `id`. A table is in host or device memory and does not
// change after it is written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

/// State of a track in this frame. A lost track is listed for one frame, then its slot is empty.
enum class TrackStatus : uint32_t {
  empty = 0,          ///< the slot has no track
  fresh = 1,          ///< found in this frame
  tracked = 2,        ///< followed from the previous frame
  lost_outside = 3,   ///< the point left the picture
  lost_texture = 4,   ///< smallest eigenvalue below the limit
  lost_residual = 5,  ///< the patches differ too much, or the search did not converge
  lost_return = 6,    ///< forward-backward error above the threshold
  lost_drift = 7,     ///< the patch differs too much from the one in the track's first frame
  lost_crowded = 8,   ///< closer to an older track than the minimum distance
  lost_cut = 9,       ///< a seek, a cut or another picture format ended all tracks
};
inline constexpr int kTrackStatuses = 10;

constexpr const char* name(TrackStatus status) {
  constexpr const char* names[kTrackStatuses] = {
      "empty",         "new",         "tracked",    "lost:outside", "lost:texture",
      "lost:residual", "lost:return", "lost:drift", "lost:crowded", "lost:cut"};
  return names[static_cast<uint32_t>(status) % kTrackStatuses];
}
LENSD_HD constexpr bool is_alive(TrackStatus status) {
  return status == TrackStatus::fresh || status == TrackStatus::tracked;
}

/// One track in one frame. Positions in pixels; pixel centres are integers, (0, 0) is the top left pixel.
struct Track {
  uint32_t id = 0;  ///< unique in a run; the first is 1
  TrackStatus status = TrackStatus::empty;
  float x = 0, y = 0;
  float previous_x = 0, previous_y = 0;  ///< position in the previous frame; new tracks: x and y
  uint32_t age = 0;                      ///< frames since the track was detected
  float residual = 0;                    ///< mean absolute difference of the patches, in grey levels
  float return_error = 0;                ///< forward-backward error in pixels; 0 if not checked
  float strength = 0;                    ///< smallest eigenvalue at detection, divided by the frame's maximum
};
static_assert(sizeof(Track) == 40);

/// Maximum number of slots (max_features).
inline constexpr int kMaxTracks = 16384;

/// Header of a table. `capacity` tracks follow the header without padding.
struct TrackTable {
  int64_t frame = -1;  ///< index of the frame
  int64_t pts_ns = 0;
  uint32_t capacity = 0;                 ///< number of slots after the header
  uint32_t alive = 0;                    ///< number of tracks with is_alive()
  uint32_t counts[kTrackStatuses] = {};  ///< number of slots by status
  uint32_t next_id = 1;
  uint32_t median_age = 0;  ///< median age of alive tracks, in frames
  Extent picture;           ///< size of the tracked picture
  uint32_t detected = 0;    ///< 1 if corners were detected in this frame, else 0
  uint32_t reserved = 0;

  LENSD_HD const Track* tracks() const { return reinterpret_cast<const Track*>(this + 1); }
  LENSD_HD Track* tracks() { return reinterpret_cast<Track*>(this + 1); }
};
static_assert(sizeof(TrackTable) % alignof(int64_t) == 0);

/// Returns the size in bytes of a table with `capacity` slots.
constexpr size_t track_table_bytes(int capacity) {
  return sizeof(TrackTable) + static_cast<size_t>(capacity) * sizeof(Track);
}

}  // namespace lensd
