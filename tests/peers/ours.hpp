// One filter of ours, run as the program does: a plan and an executor.
#pragma once

#include <memory>
#include <string>

#include "core/graph/exec/executor.hpp"
#include "tests/peers/peers.hpp"

namespace lensd::peers {

class Ours {
 public:
  /// An empty `filter` is the conversion of the decoded picture alone. Throws Error(invalid_config) where the
  /// parameters do not fit the schema, Error(unavailable) without the backend.
  Ours(Backend backend, const std::string& filter, const std::string& params);

  /// A plan is made whenever the picture's format is not that of the one before. The planes are copies.
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
