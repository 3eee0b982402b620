// Cameras and video streams of other programs in the user's PipeWire session. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lensd {

struct PipewireNode {
  std::string name;         ///< node.name: stays the same when the device is plugged in again
  std::string description;  ///< name for display
  std::string serial;       ///< PipeWire's object.serial; never reused in a session
  bool camera = false;      ///< a camera; otherwise another program's stream
  bool v4l2 = false;        ///< a camera that list_cameras() lists, too
  bool device = false;      ///< belongs to a device; otherwise a program offers it
  uint32_t id = 0;          ///< PipeWire's global id; reused after the node is removed
};

struct PipewireSurvey {
  bool running = false;             ///< a daemon answered
  std::string text;                 ///< version of the daemon; if not running, the reason
  std::vector<PipewireNode> nodes;  ///< cameras first; without the nodes of this process
};

/// Queries the daemon. Waits at most 500 ms for its answer.
PipewireSurvey survey_pipewire();

}  // namespace lensd
