#include "core/control/socket/socket_connection.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/base/clock.hpp"

namespace lensd {

constexpr size_t kReadBytes = 16 * 1024;

SocketConnection::SocketConnection(UniqueFd socket, uint64_t client_id)
    : fd(std::move(socket)), id(client_id), last_sent_ns(now_ns()) {}

void SocketConnection::receive() {
  std::array<char, kReadBytes> buffer;
  const ssize_t size = recv(fd.get(), buffer.data(), buffer.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size < 0) {
    dead = true;
  } else if (size == 0) {
    ending = true;  // the peer may still read responses
  } else if (!ending) {
    in.append(buffer.data(), static_cast<size_t>(size));
  }
}

void SocketConnection::flush(size_t max_sent) {
  while (unread() > 0 && !dead) {
    const ssize_t size = send(fd.get(), out.data() + sent, unread(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      if (errno != EAGAIN) dead = true;
      break;
    }
    sent += static_cast<size_t>(size), last_sent_ns = now_ns();
  }
  if (unread() == 0) {
    out.clear(), sent = 0, last_sent_ns = now_ns();
  } else if (sent > max_sent) {
    out.erase(0, sent), sent = 0;
  }
}

}  // namespace lensd
