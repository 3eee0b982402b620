// The controls that clients have set for cameras, kept between runs of the daemon in
// $XDG_STATE_HOME/lensd/cameras.toml. The viewer keeps its values in state.toml.
//
// Thread-safe. The constructor reads the file and save() writes it; no other function uses it. If the disk
// does not answer, save() waits at most 300 ms and the write continues on its own thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "core/pipeline/source_control.hpp"

namespace lensd {

class CameraMemory {
 public:
  /// Reads the file. If `path` is empty, no function reads or writes a file.
  explicit CameraMemory(std::string path);

  KeptControls kept() const;
  /// Stores SourceControls::wanted of a camera. Cheap if the values have not changed.
  void keep(const SourceControls& controls);
  /// Writes the cameras that have changed, a second after the first change, or immediately if `now` is true.
  /// Keeps other cameras in the file, because another daemon may have written them. Logs the first of several
  /// failures. Tries again about ten seconds after a failure. Waits at most 300 ms. Calls during an
  /// unfinished write do not start another one. If `now` was true for one of them, the changes are written
  /// after it.
  void save(bool now = false);

  /// Returns the path of the file, or an empty string if there is no home folder.
  static std::string default_path();

 private:
  struct Unsaved;

  const std::string path_;
  mutable std::mutex mutex_;
  KeptControls kept_;
  std::string device_;  ///< camera of the last keep()
  uint64_t version_ = 0;
  const std::shared_ptr<Unsaved> unsaved_;
};

}  // namespace lensd
