// A point at which the difference between recording time and source time changes, or another connection
// begins.
#pragma once

#include <cstdint>

namespace lensd {

/// At recording time `recording_ns`, the source is at `position_ns`. In files, `position_ns` is relative to
/// the first picture; in live sources, it is the stream's timestamp.
struct SourceJump {
  int64_t recording_ns = 0, position_ns = 0;
  /// True for the first frame and after a seek. False if the timestamps of the file jump back while it is
  /// read, as in joined files: the audio then has the same jump at about the same place.
  bool seek = true;
  bool moved = false;  ///< the times of a live source's pictures were moved; its timestamps are continuous
  uint32_t connection = 0;  ///< FrameInfo::connection; 0: no audio of a live source follows
};

}  // namespace lensd
