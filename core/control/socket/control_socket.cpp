#include "core/control/socket/control_socket.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/error.hpp"

namespace lensd {
namespace {

Error socket_error(const std::string& path, const std::string& what, const std::string& hint = {}) {
  return Error(ExitCode::runtime_failure, "control socket " + path, what, hint);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw socket_error(path, fmt::format("the path is longer than {} bytes", sizeof address.sun_path - 1),
                       "choose a shorter one");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

/// A socket file that nobody listens on is left over from a run that was killed.
void clear_stale(const std::string& path, const sockaddr_un& address) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return;
  if (!S_ISSOCK(info.st_mode)) throw socket_error(path, "there is something else of that name", "remove it");
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool alive =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
  close(probe);
  if (alive) throw socket_error(path, "another lensd answers there", "end it, or choose another --socket");
  unlink(path.c_str());
}

int listen_on(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::exists(folder)) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    chmod(folder.c_str(), 0700);
  }
  struct stat info {};
  if (!folder.empty() && stat(folder.c_str(), &info) == 0 && info.st_uid != geteuid() && info.st_uid != 0)
    throw socket_error(path, "its folder belongs to another user", "choose another --socket");
  clear_stale(path, address);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) throw socket_error(path, std::strerror(errno));
  fchmod(fd, 0600);  // taken over by bind(), so that the file never has another mode
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(fd, 64) != 0) {
    const std::string reason = std::strerror(errno);
    close(fd);
    throw socket_error(path, reason, "check the folder and its permissions");
  }
  return fd;
}

}  // namespace

std::string default_socket_path() {
  if (const char* folder = std::getenv("RUNTIME_DIRECTORY"); folder && *folder)
    return std::string(folder).substr(0, std::strcspn(folder, ":")) + "/control.sock";
  if (const char* folder = std::getenv("XDG_RUNTIME_DIR"); folder && *folder)
    return fmt::format("{}/lensd/control.sock", folder);
  return fmt::format("/tmp/lensd-{}/control.sock", geteuid());
}

ControlSocket::ControlSocket(const std::string& path) : path_(path), fd_(listen_on(path)) {
  struct stat info {};
  if (stat(path_.c_str(), &info) == 0) inode_ = info.st_ino;
}

ControlSocket::~ControlSocket() {
  struct stat info {};
  if (stat(path_.c_str(), &info) == 0 && info.st_ino == inode_) unlink(path_.c_str());
  close(fd_);
}

bool may_connect(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

}  // namespace lensd
