// Messages to the service manager: systemd's notification protocol, a datagram with NAME=VALUE lines.
//
// Without $NOTIFY_SOCKET nothing is sent. Belongs to one thread.
#pragma once

#include <cstdint>
#include <string>

namespace lensd {

class ServiceNotify {
 public:
  ServiceNotify();
  ~ServiceNotify();
  ServiceNotify(const ServiceNotify&) = delete;
  ServiceNotify& operator=(const ServiceNotify&) = delete;

  void ready(const std::string& status) const;
  /// Sent only when the text is another one than before.
  void status(const std::string& text);
  /// Answered by ready() once the reload is through, well or not.
  void reloading() const;
  void stopping() const;
  void watchdog() const;

  /// How often watchdog() is due, half of what the manager allows; 0: it does not ask.
  int64_t watchdog_interval_ns() const noexcept { return watchdog_ns_; }

 private:
  void send(const std::string& text) const;

  int fd_ = -1;
  int64_t watchdog_ns_ = 0;
  std::string address_, status_;
};

}  // namespace lensd
