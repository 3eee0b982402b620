// Runs one lensd filter like the program, with a plan and an executor.
#pragma once

#include <memory>
#include <string>

#include "core/graph/exec/executor.hpp"
#include "tests/peers/peers.hpp"

namespace lensd::peers {

class Ours {
 public:
  /// An empty `filter` only converts the decoded picture. Throws Error(invalid_config) if the parameters do
  /// not fit the schema, Error(unavailable) without the backend.
  Ours(Backend backend, const std::string& filter, const std::string& params);

  /// Makes a plan if the picture's format changed. The returned planes are copies.
  Planes run(const PictureRef& picture);

 private:
  Backend backend_;
  GraphDesc graph_;
  Profiler profiler_;
  Timeline timeline_;
  std::unique_ptr<Executor> executor_;
  PictureInfo planned_;
};

}  // namespace lensd::peers
