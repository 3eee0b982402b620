// The control socket: mpv's JSON IPC, a JSON object a line, on a Unix socket.
//
//   clients ── lines ──▶ one epoll thread ── run_command() ──▶ answers, at once or later
//   ControlTarget's changes ── wake() ──▶ the same thread ── EventHub::tick() ──▶ events to clients that
//   observe
//
// The thread never waits for the pipeline nor for a client: sockets do not block, what a client does not read
// is bounded (its requests are not read on, its oldest events are dropped and counted, in the end it is cut
// off), and a line is bounded. The socket has mode 0600, and peers of another user are turned away.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "core/control/events.hpp"
#include "core/control/target.hpp"

namespace lensd {

struct SocketOptions {
  std::string path;  ///< empty: no socket, only the hub's ticks
  int max_clients = 128;
  size_t max_line = 64 * 1024;        ///< bytes; a longer line ends the connection
  size_t max_unread = 256 * 1024;     ///< bytes of answers, from where on a client's requests wait
  int64_t stuck_ns = 10'000'000'000;  ///< a client that reads nothing for so long while there is something
  int64_t tick_ns = 100'000'000;      ///< how often observed values are compared, at least
};

class SocketServer {
 public:
  /// Binds and starts the thread. `pump` is called on it after every wake(), before the tick.
  /// Throws Error(runtime_failure) when the path cannot be used or another instance answers there.
  SocketServer(
      ControlTarget& target, EventHub& hub, SocketOptions options, std::function<void()> pump = [] {});
  /// Ends the thread, closes all connections, removes the socket.
  ~SocketServer();
  SocketServer(const SocketServer&) = delete;
  SocketServer& operator=(const SocketServer&) = delete;

  /// Something changed; any thread, also in the process thread: one write to an eventfd.
  void wake() noexcept;

  size_t clients() const;
  /// Clients that were cut off because they did not read.
  uint64_t cut_off() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace lensd
