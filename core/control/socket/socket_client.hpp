// One client of the control socket: what it sent and what it has not read yet. Nothing here waits.
//
//   receive() ──▶ in ──▶ requests        answers, events ──▶ out ── flush() ──▶ the client
//
// Belongs to the thread of the control socket.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace lensd {

class Subscriber;

struct SocketClient {
  /// Takes the socket over.
  SocketClient(int fd, uint64_t id);
  ~SocketClient();
  SocketClient(const SocketClient&) = delete;
  SocketClient& operator=(const SocketClient&) = delete;

  /// Takes what has come into `in`.
  void receive();
  /// Sends what the client takes of `out`; more than `max_sent` bytes of what was sent are not kept.
  void flush(size_t max_sent);

  /// Bytes that it has not taken yet.
  size_t unread() const { return out.size() - sent; }
  bool has_line() const { return in.find('\n') != std::string::npos; }

  const int fd;
  const uint64_t id;
  std::string in, out;
  size_t sent = 0;  ///< of `out`
  std::shared_ptr<Subscriber> subscriber;
  std::shared_ptr<std::atomic<bool>> news = std::make_shared<std::atomic<bool>>(false);  ///< events to take
  int pending = 0;       ///< answers on their way
  int64_t moved_ns = 0;  ///< when it last took something
  uint32_t interest = EPOLLIN;
  bool ending = false;  ///< no more requests; closed once `out` is sent
  bool dead = false;
};

}  // namespace lensd
