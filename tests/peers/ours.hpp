// Runs one lensd filter like the program, with a plan and an executor.
#pragma once

#include <memory>
#include <string>

#include "core/graph/exec/executor.hpp"
#include "tests/peers/peers.hpp"

namespace lensd::peers {

class Ours {
 public:
  /// If `filter` is empty, run() only converts the decoded picture. Throws Error(invalid_config) if the
  /// parameters do not fit the schema, and Error(unavailable) if the backend is not available.
  Ours(Backend backend, const std::string& filter, const std::string& params,
       Precision precision = Precision::automatic);

  /// Runs the filter without state of earlier frames. Returns copies of the output's planes. Makes a new plan
  /// if the picture's format has changed.
  Planes run(const PictureRef& picture);

 private:
  Backend backend_;
  Precision precision_;
  GraphDesc graph_;
  Profiler profiler_;
  Timeline timeline_;
  std::unique_ptr<Executor> executor_;
  PictureInfo planned_;
};

}  // namespace lensd::peers
