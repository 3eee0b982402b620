// Numbers of frames by outcome.
//
//   live:  received + placeholders = replaced_source + replaced_graph + skipped + processed + in flight
//   all:   processed + rerun       = shown + not_shown + in flight
//
// Plain data. The other counts (camera_broken, camera_missed, late, repeated, recorder, stream) are not part
// of these sums.
#pragma once

#include <cstdint>
#include <string>

namespace lensd::ui {

struct FrameCounts {
  uint64_t received = 0, placeholders = 0;        ///< live: pictures of the source, and placeholders
  uint64_t camera_broken = 0, camera_missed = 0;  ///< live: damaged; dropped by the camera's driver
  uint64_t replaced_source = 0;                   ///< live: replaced before the decode thread took them
  uint64_t replaced_graph = 0;                    ///< live: replaced before the graph took them
  uint64_t skipped = 0;                           ///< live: received while paused
  uint64_t processed = 0, rerun = 0;              ///< new frames; reruns of the current frame
  uint64_t shown = 0, not_shown = 0;              ///< not shown: replaced by a newer frame, or window hidden
  uint64_t late = 0;                              ///< shown more than one frame duration late
  uint64_t repeated = 0;  ///< frame durations for which an older frame stayed on the display
  uint64_t recorder = 0,
           stream = 0;  ///< dropped by the recorder; dropped by the streams and the virtual camera

  uint64_t replaced() const { return replaced_source + replaced_graph; }
  uint64_t camera() const { return camera_broken + camera_missed; }
  /// Returns the number of drops that the transport bar shows: pictures that were lost or shown late, and
  /// frames that were not recorded or sent.
  uint64_t drops() const { return camera() + replaced() + late + recorder + stream; }
};

/// Returns the counts that apply to a live source (`live`) or to a file, one per line with their meaning.
std::string frame_count_lines(const FrameCounts& counts, bool live);

}  // namespace lensd::ui
