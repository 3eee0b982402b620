#include "core/control/socket/client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace lensd {

ControlClient::ControlClient(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto refuse = [&](const std::string& reason) {
    if (fd_ >= 0) close(fd_);
    return Error(ExitCode::unavailable, path, "no lensd answers there: " + reason,
                 "start lensd serve, or name its socket with --socket");
  };
  if (path.size() >= sizeof address.sun_path) throw refuse("the path is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0 || connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw refuse(std::strerror(errno));
}

ControlClient::~ControlClient() {
  close(fd_);
}

void ControlClient::send(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t size = ::send(fd_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw Error(ExitCode::runtime_failure, "control socket", std::strerror(errno));
    sent += static_cast<size_t>(size);
  }
}

std::optional<std::string> ControlClient::receive(int timeout_ms) {
  const int64_t deadline = now_ns() + int64_t{timeout_ms} * 1'000'000;
  for (;;) {
    if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    if (closed_) return std::nullopt;
    const int64_t left = timeout_ms < 0 ? -1 : std::max<int64_t>(0, (deadline - now_ns()) / 1'000'000);
    pollfd waiting{fd_, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    std::array<char, 16384> chunk;
    const ssize_t size = recv(fd_, chunk.data(), chunk.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0)
      closed_ = true;
    else
      buffer_.append(chunk.data(), static_cast<size_t>(size));
  }
}

}  // namespace lensd
