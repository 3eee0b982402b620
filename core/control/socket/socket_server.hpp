// The control socket: mpv's JSON IPC, one JSON object per line, on a Unix socket.
//
//   clients ── lines ──▶ one epoll thread ── run_command() ──▶ responses, at once or later
//   ControlTarget's changes ── wake() ──▶ the same thread ── EventHub::tick() ──▶ events for observers
//
// The thread waits neither for the pipeline nor for a client. Sockets do not block. If a client does not
// read, its requests wait and its oldest events are dropped and counted. After `stuck_ns` the client is
// disconnected. The socket has mode 0600; only the same user and root may connect.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "core/base/limits.hpp"
#include "core/control/control_target.hpp"
#include "core/control/events.hpp"

namespace lensd {

struct SocketOptions {
  std::string path;  ///< empty: no socket; the thread still calls `pump` and EventHub::tick()
  int max_clients = kDefaultClients;
  size_t max_line = kMaxRequestBytes;  ///< bytes of a request; a longer unfinished line ends the connection
  size_t max_unsent = 256 * 1024;      ///< bytes of unsent output at which a client's requests wait
  int64_t stuck_ns = 10'000'000'000;   ///< a client that reads nothing for this long is disconnected
  int64_t tick_ns = 100'000'000;       ///< interval between comparisons of observed values
};

class SocketServer {
 public:
  /// Binds and starts the thread. The thread calls `pump` before each EventHub::tick() and thus after every
  /// wake(), and at least once a second. Throws Error(runtime_failure) if the path cannot be used or another
  /// instance listens there.
  SocketServer(
      ControlTarget& target, EventHub& hub, SocketOptions options, std::function<void()> pump = [] {});
  /// Joins the thread, closes all connections and removes the socket.
  ~SocketServer();
  SocketServer(const SocketServer&) = delete;
  SocketServer& operator=(const SocketServer&) = delete;

  /// Makes the thread call `pump` and compare observed values now. Call after a change of the target.
  /// Thread-safe. Does not block.
  void wake() noexcept;

  /// Returns the number of connections. Thread-safe.
  size_t clients() const;
  /// Returns the number of clients disconnected because they did not read. Thread-safe.
  uint64_t disconnected() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace lensd
