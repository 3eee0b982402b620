// The run as metrics in Prometheus' text format.
#pragma once

#include <string>

#include "core/control/target.hpp"

namespace lensd {

/// What the servers know of themselves.
struct ServerCounts {
  size_t socket_clients = 0;
  int http_connections = 0;
  uint64_t cut_off = 0, turned_away = 0, events_dropped = 0;
};

/// Counters, gauges and histograms with HELP and TYPE, prefix lensd_. Any thread.
std::string metrics_text(const ControlTarget& target, const ServerCounts& servers);

}  // namespace lensd
