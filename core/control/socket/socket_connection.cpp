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
  // After the end of the input (0) the peer may still read responses. An error means that the peer closed the
  // connection before it had read all responses.
  if (size <= 0) {
    ending = true;
  } else if (!ending) {
    in.append(buffer.data(), static_cast<size_t>(size));
  }
}

void SocketConnection::flush(size_t max_sent) {
  if (peer_gone) sent = out.size();
  while (unsent() > 0 && !dead) {
    const ssize_t size = send(fd.get(), out.data() + sent, unsent(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      if (errno == EAGAIN) break;
      // Requests may still be unread, so keep the connection until the end of the input.
      peer_gone = true, sent = out.size();
      break;
    }
    sent += static_cast<size_t>(size), last_sent_ns = now_ns();
  }
  if (unsent() == 0) {
    out.clear(), sent = 0, last_sent_ns = now_ns();
  } else if (sent > max_sent) {
    out.erase(0, sent), sent = 0;
  }
}

}  // namespace lensd
