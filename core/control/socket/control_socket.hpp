// The control socket as a file: where it lies, who may take it over and who may connect.
#pragma once

#include <sys/types.h>

#include <string>

namespace lensd {

/// Where `lensd serve` listens and `lensd ctl` looks when nothing else is said:
/// $RUNTIME_DIRECTORY/control.sock (systemd), $XDG_RUNTIME_DIR/lensd/control.sock,
/// /tmp/lensd-UID/control.sock.
std::string default_socket_path();

/// A Unix socket that listens, with mode 0600, and its file, which goes with it.
class ControlSocket {
 public:
  /// Takes the place of a file that a killed run left. Throws Error(runtime_failure) when the path cannot be
  /// used or another instance answers there.
  explicit ControlSocket(const std::string& path);
  /// Removes the file unless it is another one by now.
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  int fd() const { return fd_; }

 private:
  const std::string path_;
  const int fd_;
  ino_t inode_ = 0;
};

/// The peer of an accepted connection is the same user, or root.
bool may_connect(int fd);

}  // namespace lensd
