// The other end of the control socket: for lensd ctl and for tests.
//
// Belongs to one thread.
#pragma once

#include <optional>
#include <string>

#include "core/control/target.hpp"

namespace lensd {

class ControlClient {
 public:
  /// Connects. Throws Error(unavailable) when nobody answers at `path`.
  explicit ControlClient(const std::string& path);
  ~ControlClient();
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  /// Sends a line. Throws Error(runtime_failure) when the connection is gone.
  void send(const std::string& line);
  /// The next line without its end; nothing after `timeout_ms` (negative: never) or at the end of the
  /// connection, which closed() tells apart.
  std::optional<std::string> receive(int timeout_ms);
  bool closed() const noexcept { return closed_; }
  int fd() const noexcept { return fd_; }

 private:
  int fd_ = -1;
  std::string buffer_;
  bool closed_ = false;
};

}  // namespace lensd
