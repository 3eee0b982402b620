// Notifies the service manager with systemd's protocol: datagrams with NAME=VALUE lines.
//
// Sends nothing if $NOTIFY_SOCKET is not set. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/unique_fd.hpp"

namespace lensd {

class ServiceNotify {
 public:
  ServiceNotify();

  void ready(const std::string& status) const;
  /// Sends the status text if it differs from that of the previous call.
  void status(const std::string& text);
  /// Reports that a reload has started. Call ready() when it has ended, successful or not.
  void reloading() const;
  void stopping() const;
  void watchdog() const;

  /// Returns the interval at which to call watchdog(): half of the manager's limit, or 0 if its watchdog is
  /// off.
  int64_t watchdog_interval_ns() const noexcept { return watchdog_ns_; }

 private:
  void send(const std::string& text) const;

  UniqueFd fd_;
  int64_t watchdog_ns_ = 0;
  std::string address_, status_;
};

}  // namespace lensd
