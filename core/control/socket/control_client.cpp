#include "core/control/socket/control_client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/control/socket/control_socket.hpp"

namespace lensd {

namespace {

/// Interval between attempts to connect while the server's queue of connections is full. poll() cannot wait
/// for that.
constexpr auto kRetryInterval = std::chrono::milliseconds(5);

/// A time limit. A negative timeout means no limit.
class Deadline {
 public:
  explicit Deadline(int timeout_ms)
      : unlimited_(timeout_ms < 0), ns_(now_ns() + int64_t{timeout_ms} * 1'000'000) {}
  /// Returns the remaining time as a timeout for poll(): milliseconds, rounded up, or -1 if there is no
  /// limit.
  int left_ms() const {
    return unlimited_ ? -1 : static_cast<int>(std::max<int64_t>(0, (ns_ - now_ns() + 999'999) / 1'000'000));
  }

 private:
  bool unlimited_;
  int64_t ns_;
};

/// Connects a non-blocking socket. Returns an empty UniqueFd, with errno set, on failure.
UniqueFd connect_within(const std::string& path, int timeout_ms) {
  for (const Deadline deadline(timeout_ms);;) {
    UniqueFd fd = connect_socket(path, SOCK_NONBLOCK);
    if (fd || errno != EAGAIN) return fd;
    if (deadline.left_ms() == 0) {
      errno = ETIMEDOUT;
      return fd;
    }
    std::this_thread::sleep_for(kRetryInterval);
  }
}

}  // namespace

ControlClient::ControlClient(const std::string& path, Owner owner, int timeout_ms)
    : fd_(connect_within(path, timeout_ms)) {
  if (!fd_)
    throw Error(ExitCode::unavailable, path, fmt::format("cannot connect to lensd: {}", std::strerror(errno)),
                "start lensd serve, or name its socket with --socket");
  if (owner == Owner::trusted && !is_trusted_peer(fd()))
    throw Error(ExitCode::unavailable, path, "the socket belongs to another user",
                "name it with --socket if that is intended");
}

void ControlClient::send(const std::string& line, int timeout_ms) {
  const std::string text = line + "\n";
  const Deadline deadline(timeout_ms);
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t size = ::send(fd(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) {
      pollfd waiting{fd(), POLLOUT, 0};
      if (poll(&waiting, 1, deadline.left_ms()) == 0)
        throw Error(ExitCode::runtime_failure, "control socket",
                    "lensd did not read the command before the timeout");
      continue;
    }
    if (size < 0) throw Error(ExitCode::runtime_failure, "control socket", std::strerror(errno));
    sent += static_cast<size_t>(size);
  }
}

std::optional<std::string> ControlClient::receive(int timeout_ms) {
  for (const Deadline deadline(timeout_ms);;) {
    if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    if (closed_) return std::nullopt;
    pollfd waiting{fd(), POLLIN, 0};
    const int ready = poll(&waiting, 1, deadline.left_ms());
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    std::array<char, 16384> chunk;
    const ssize_t size = recv(fd(), chunk.data(), chunk.size(), 0);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size <= 0)
      closed_ = true;
    else
      buffer_.append(chunk.data(), static_cast<size_t>(size));
  }
}

}  // namespace lensd
