// The errors of a graph that does not fit in memory.
#pragma once

#include "core/base/error.hpp"

namespace lensd {

/// Thrown if there is not enough free memory. A later attempt may succeed.
class MemoryError : public Error {
 public:
  MemoryError(std::string where, std::string what, std::string hint)
      : Error(ExitCode::runtime_failure, std::move(where), std::move(what), std::move(hint)) {}
};

/// The GPU does not have enough free memory. The CPU backend may still run the graph.
class DeviceMemoryError : public MemoryError {
 public:
  DeviceMemoryError(std::string what, std::string hint)
      : MemoryError("GPU memory", std::move(what), std::move(hint)) {}
};

}  // namespace lensd
