// klt run as the program does, a plan and an executor, frame by frame.
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
  /// `params` as on the command line. Throws Error as Ours does.
  OurTracker(Backend backend, const std::string& params);

  /// The places of the table after this frame. Pictures of another size start anew.
  std::vector<Track> run(const PictureRef& picture);
  /// The next frame has no past: its tracks are new.
  void cut() { executor_->reset_state(); }
  /// Changes a live parameter; after the first frame.
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
