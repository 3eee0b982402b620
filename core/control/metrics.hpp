// The state of the run as metrics in Prometheus' text format.
#pragma once

#include <string>

#include "core/control/control_target.hpp"

namespace lensd {

/// Counters of the control servers.
struct ServerCounts {
  size_t socket_clients = 0;
  int http_connections = 0;
  uint64_t socket_disconnected = 0, http_refused = 0, events_dropped = 0;
};

/// Returns all metrics with HELP and TYPE lines; their names begin with lensd_. Thread-safe.
std::string metrics_text(const ControlTarget& target, const ServerCounts& servers);

}  // namespace lensd
