// A client of the control socket, for `lensd ctl` and for tests. Not thread-safe.
#pragma once

#include <optional>
#include <string>

#include "core/base/unique_fd.hpp"

namespace lensd {

class ControlClient {
 public:
  enum class Owner {
    any,      ///< any user; for paths that the user named or that are below /run
    trusted,  ///< this user or root; for the default path, which may be in /tmp and belong to another user
  };
  /// Connects to the socket `path`. Waits up to `timeout_ms` (negative: no timeout) while the server accepts
  /// no connections, for example because its process is stopped. Throws Error(unavailable) if the connection
  /// fails, or if `owner` is `trusted` and the server runs as neither this user nor root.
  explicit ControlClient(const std::string& path, Owner owner = Owner::any, int timeout_ms = -1);

  /// Sends `line` and a newline. Waits while the server does not read. Throws Error(runtime_failure) if the
  /// connection is lost, or after `timeout_ms` (negative: no timeout).
  void send(const std::string& line, int timeout_ms = -1);
  /// Waits for the next line and returns it without its newline. Returns nullopt after `timeout_ms`
  /// (negative: no timeout) or if closed().
  std::optional<std::string> receive(int timeout_ms);
  /// Returns true once receive() has found the end of the connection.
  bool closed() const noexcept { return closed_; }
  int fd() const noexcept { return fd_.get(); }

 private:
  const UniqueFd fd_;
  std::string buffer_;
  bool closed_ = false;
};

}  // namespace lensd
