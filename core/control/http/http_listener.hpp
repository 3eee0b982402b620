// The listening socket of the HTTP server and the life of its connections.
//
//   accept thread ──▶ a thread a connection, at most max_connections ──▶ serve(socket)
//
// Who comes when there are too many is turned away and counted. Threads are detached and waited for by
// number, so that stop() leaves none behind.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace lensd {

class HttpListener {
 public:
  /// Binds; nobody is let in yet. Throws Error(runtime_failure) when the address cannot be used.
  HttpListener(const std::string& address, int port, int max_connections);
  ~HttpListener();
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;

  /// Lets connections in. `serve` is called once for each, on its thread, with a socket that does not block
  /// and is closed afterwards; it must return soon once stopping() is true and the socket is shut down.
  void start(std::function<void(int fd)> serve);
  /// Shuts all connections down and waits for their threads.
  void stop();
  bool stopping() const { return stopping_; }

  int fd() const { return fd_; }
  int port() const;
  /// Connections now, and those that were turned away; any thread.
  int connections() const;
  uint64_t turned_away() const { return turned_away_; }

 private:
  void accept_loop();
  bool admit(int fd);

  const int fd_, stop_event_, max_connections_;
  std::function<void(int fd)> serve_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;  ///< a connection's thread
  std::set<int> open_;
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> turned_away_{0};
  std::thread accepting_;
};

}  // namespace lensd
