#include "core/control/socket/control_socket.hpp"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/base/lock_file.hpp"

namespace lensd {
namespace {

Error socket_error(const std::string& path, const std::string& what, const std::string& hint) {
  return Error(ExitCode::runtime_failure, "control socket " + path, what, hint);
}

using SocketCall = int (*)(int, const sockaddr*, socklen_t);

/// Creates a Unix socket and passes it to bind() or connect(). Returns an empty UniqueFd, with errno set, on
/// failure.
UniqueFd open_socket(const std::string& path, int flags, SocketCall call) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return UniqueFd();
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  // bind() creates the file with the socket's mode, so it is never open to other users.
  fchmod(fd.get(), 0600);
  if (call(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return UniqueFd();
  return fd;
}

/// Locks the socket's name against other instances until the descriptor is closed. Without a lock, two
/// instances that start together can remove each other's new socket. The lock is on a file and not on the
/// folder, because every user who may read the folder could lock it forever.
UniqueFd lock_name(const std::string& path, int64_t timeout_ns) {
  std::filesystem::path name(path);
  name.replace_filename("." + name.filename().string() + ".lock");
  UniqueFd lock = open_lock_file(name.string());
  if (!lock)
    throw socket_error(path,
                       fmt::format("its lock file {}: {}", name.string(),
                                   errno == EPERM ? "belongs to another user" : std::strerror(errno)),
                       "check the folder and its permissions, or choose another --socket");
  for (const int64_t deadline = now_ns() + timeout_ns; flock(lock.get(), LOCK_EX | LOCK_NB) != 0;) {
    if (errno != EWOULDBLOCK && errno != EINTR) break;  // the file system does not support locks
    if (now_ns() > deadline)
      throw socket_error(path, "another program has locked " + name.string(), "choose another --socket");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return lock;
}

/// Removes the socket file that a killed process left behind. Throws Error(runtime_failure) if the file is
/// not a socket or belongs to another user, or if a process listens on the socket.
void remove_stale(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return;
  if (!S_ISSOCK(info.st_mode)) throw socket_error(path, "the file exists and is not a socket", "remove it");
  if (connect_socket(path, SOCK_NONBLOCK) || errno == EAGAIN)
    throw socket_error(path, "another lensd listens there", "stop it, or choose another --socket");
  if (errno == ENOENT) return;
  if (errno != ECONNREFUSED || (info.st_uid != geteuid() && geteuid() != 0))
    throw socket_error(path, "the socket belongs to another user", "choose another --socket");
  unlink(path.c_str());
}

/// Creates the socket's folder if it is missing, with access for this user only. Throws
/// Error(runtime_failure) if an existing folder is not safe.
void make_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder == private_tmp_folder()) {
    if (make_private_folder(folder.string())) return;
    const int reason = errno;
    if (reason == EPERM)
      throw socket_error(path, folder.string() + " is not a folder that only this user can write to",
                         "remove it, or choose another --socket");
    throw socket_error(path, fmt::format("cannot create {}: {}", folder.string(), std::strerror(reason)),
                       "choose another --socket");
  }
  std::error_code error;
  if (!folder.empty() && !std::filesystem::exists(folder, error)) {
    std::filesystem::create_directories(folder, error);
    chmod(folder.c_str(), 0700);
  }
  struct stat info {};
  if (!folder.empty() && stat(folder.c_str(), &info) == 0 && info.st_uid != geteuid() && info.st_uid != 0)
    throw socket_error(path, "its folder belongs to another user", "choose another --socket");
}

UniqueFd listen_on(const std::string& path, int64_t lock_timeout_ns) {
  make_folder(path);
  const UniqueFd lock = lock_name(path, lock_timeout_ns);
  remove_stale(path);
  UniqueFd fd = open_socket(path, SOCK_NONBLOCK, bind);
  if (!fd || listen(fd.get(), 64) != 0)
    throw socket_error(path, std::strerror(errno), "check the path, the folder and its permissions");
  return fd;
}

}  // namespace

std::string default_socket_path() {
  if (const std::string folders = folder_in("RUNTIME_DIRECTORY"); !folders.empty())
    return folders.substr(0, folders.find(':')) + "/control.sock";
  if (const std::string folder = folder_in("XDG_RUNTIME_DIR"); !folder.empty())
    return folder + "/lensd/control.sock";
  return private_tmp_folder() + "/control.sock";
}

std::string client_socket_path(const std::string& service) {
  std::string path = default_socket_path();
  std::error_code ignored;
  if (!std::filesystem::exists(service, ignored)) return path;
  const bool listens = connect_socket(path, SOCK_NONBLOCK) || errno == EAGAIN;
  return listens ? path : service;
}

ControlSocket::ControlSocket(const std::string& path, int64_t lock_timeout_ns)
    : path_(path), fd_(listen_on(path, lock_timeout_ns)) {
  struct stat info {};
  if (lstat(path_.c_str(), &info) == 0) device_ = info.st_dev, inode_ = info.st_ino;
}

ControlSocket::~ControlSocket() {
  // No other lensd replaces the file before unlink(), because fd_ still listens.
  if (in_place()) unlink(path_.c_str());
}

bool ControlSocket::in_place() const {
  struct stat info {};
  return lstat(path_.c_str(), &info) == 0 && info.st_ino == inode_ && info.st_dev == device_;
}

UniqueFd connect_socket(const std::string& path, int flags) {
  return open_socket(path, flags, connect);
}

bool is_trusted_peer(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

}  // namespace lensd
