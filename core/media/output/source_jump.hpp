// A point at which the difference between recording time and source time changes.
#pragma once

#include <cstdint>

namespace lensd {

/// At recording time `recording_ns`, the source is at `position_ns`, relative to its first picture.
struct SourceJump {
  int64_t recording_ns = 0, position_ns = 0;
  /// True for the first frame and after a seek. False if the timestamps of the file jump back while it is
  /// read, as in joined files: the audio then has the same jump at about the same place.
  bool seek = true;
};

}  // namespace lensd
