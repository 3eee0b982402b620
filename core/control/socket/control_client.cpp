#include "core/control/socket/control_client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/control/socket/control_socket.hpp"

namespace lensd {

ControlClient::ControlClient(const std::string& path, Owner owner) : fd_(connect_socket(path, 0)) {
  if (!fd_)
    throw Error(ExitCode::unavailable, path, fmt::format("cannot connect to lensd: {}", std::strerror(errno)),
                "start lensd serve, or name its socket with --socket");
  if (owner == Owner::trusted && !is_trusted_peer(fd()))
    throw Error(ExitCode::unavailable, path, "the socket belongs to another user",
                "name it with --socket if that is intended");
}

void ControlClient::send(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t size = ::send(fd(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
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
    pollfd waiting{fd(), POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    std::array<char, 16384> chunk;
    const ssize_t size = recv(fd(), chunk.data(), chunk.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0)
      closed_ = true;
    else
      buffer_.append(chunk.data(), static_cast<size_t>(size));
  }
}

}  // namespace lensd
