// The error of a graph that does not fit in GPU memory.
#pragma once

#include "core/base/error.hpp"

namespace lensd {

/// The GPU does not have enough free memory. The CPU backend may still run the graph.
class DeviceMemoryError : public Error {
 public:
  DeviceMemoryError(std::string what, std::string hint)
      : Error(ExitCode::runtime_failure, "GPU memory", std::move(what), std::move(hint)) {}
};

}  // namespace lensd
