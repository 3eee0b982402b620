// A client of the control socket, for `lensd ctl` and for tests. Not thread-safe.
#pragma once

#include <optional>
#include <string>

#include "core/base/unique_fd.hpp"

namespace lensd {

class ControlClient {
 public:
  enum class Owner {
    any,      ///< for paths that the user named, and below /run
    trusted,  ///< this user or root, for paths in /tmp that anybody may have created
  };
  /// Connects. Throws Error(unavailable) if it cannot connect to `path`, or if the server's process has
  /// another owner.
  explicit ControlClient(const std::string& path, Owner owner = Owner::any);

  /// Sends `line` and a newline. Blocks while the server does not read. Throws Error(runtime_failure) if the
  /// connection is lost.
  void send(const std::string& line);
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
