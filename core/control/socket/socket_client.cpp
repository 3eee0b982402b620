#include "core/control/socket/socket_client.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/base/clock.hpp"

namespace lensd {

constexpr size_t kReadBytes = 16 * 1024;

SocketClient::SocketClient(int socket, uint64_t number) : fd(socket), id(number), moved_ns(now_ns()) {}

SocketClient::~SocketClient() {
  close(fd);
}

void SocketClient::receive() {
  std::array<char, kReadBytes> buffer;
  const ssize_t size = recv(fd, buffer.data(), buffer.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size < 0) {
    dead = true;
  } else if (size == 0) {
    ending = true;  // it may still read what it asked for
  } else if (!ending) {
    in.append(buffer.data(), static_cast<size_t>(size));
  }
}

void SocketClient::flush(size_t max_sent) {
  while (unread() > 0 && !dead) {
    const ssize_t size = send(fd, out.data() + sent, unread(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      if (errno != EAGAIN) dead = true;
      break;
    }
    sent += static_cast<size_t>(size), moved_ns = now_ns();
  }
  if (unread() == 0) {
    out.clear(), sent = 0, moved_ns = now_ns();
  } else if (sent > max_sent) {
    out.erase(0, sent), sent = 0;
  }
}

}  // namespace lensd
