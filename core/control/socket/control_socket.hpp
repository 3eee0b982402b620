// The control socket's file: its path, its mode and the users that may connect.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "core/base/unique_fd.hpp"

namespace lensd {

/// Returns the default path of `lensd serve` and `lensd ctl`: $RUNTIME_DIRECTORY/control.sock (systemd),
/// $XDG_RUNTIME_DIR/lensd/control.sock or /tmp/lensd-UID/control.sock.
std::string default_socket_path();

/// Control socket of the system service; see config/systemd/lensd.service.
inline constexpr const char* kServiceSocket = "/run/lensd/control.sock";

/// Returns the path for a client that was given none: default_socket_path(), or `service` if that exists and
/// nobody listens at the default path.
std::string client_socket_path(const std::string& service = kServiceSocket);

/// A listening Unix socket with mode 0600. Owns the socket's file.
class ControlSocket {
 public:
  /// Starts listening. Replaces the socket file that a killed process left behind. The lock file .NAME.lock
  /// prevents races between instances that start at the same time; waits for it up to `lock_timeout_ns`.
  /// Throws Error(runtime_failure) if the path cannot be used or another instance listens there.
  explicit ControlSocket(const std::string& path, int64_t lock_timeout_ns = 2'000'000'000);
  /// Removes the file unless another process has replaced it.
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  int fd() const { return fd_.get(); }
  /// Returns false if the file was removed or replaced, so that clients no longer reach this socket.
  bool in_place() const;

 private:
  const std::string path_;
  const UniqueFd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Connects to a Unix socket. `flags`: SOCK_NONBLOCK or 0. Returns an empty UniqueFd, with errno set, on
/// failure.
UniqueFd connect_socket(const std::string& path, int flags);

/// Returns true if the peer of a connection runs as the same user or as root.
bool is_trusted_peer(int fd);

}  // namespace lensd
