// Runs klt like the program, with a plan and an executor, frame by frame.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/exec/executor.hpp"
#include "core/image/tracks.hpp"
#include "tests/peers/peers.hpp"

namespace lensd::peers {

class OurTracker {
 public:
  /// `params` as on the command line. Throws the same errors as Ours().
  OurTracker(Backend backend, const std::string& params);

  /// Returns all places of the track table after this frame, including empty ones. A picture of another
  /// format resets the tracker.
  std::vector<Track> run(const PictureRef& picture);
  /// Resets the state: the tracks of the next frame are new.
  void cut() { executor_->reset_state(); }
  /// Changes a live parameter. Call after the first frame.
  void set(const std::string& name, const ParamValue& value);

 private:
  Backend backend_;
  GraphDesc graph_;
  Profiler profiler_;
  Timeline timeline_;
  std::unique_ptr<Executor> executor_;
  PictureInfo planned_;
};

}  // namespace lensd::peers
