// httplib's parser and router over connections of our own: deadlines for whole requests and whole writes, and
// no thread or socket that is not counted. Included by core/control/http/http_server.cpp only.
//
// A Connection belongs to one thread. Another one ends it by shutting its socket down: HttpListener::stop().
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <httplib.h>
#include <algorithm>
#include <cerrno>
#include <string>

#include "core/base/clock.hpp"

namespace lensd {

/// An accepted connection as httplib's stream, with deadlines for whole requests and whole writes.
class Connection final : public httplib::Stream {
 public:
  Connection(int fd, int64_t head_ns, int64_t write_ns) : fd_(fd), head_ns_(head_ns), write_ns_(write_ns) {}

  /// Waits for the first byte of a request, then gives the whole of it head_ns. False: there is none.
  bool await_request() {
    if (!wait(POLLIN, now_ns() + head_ns_)) return false;
    deadline_ns_ = now_ns() + head_ns_;
    return true;
  }
  /// Reads on for a moment, so that closing does not reset the connection before the answer was read.
  void drain() {
    constexpr int64_t kDrainNs = 1'000'000'000;
    constexpr size_t kDrainBytes = 4 << 20;
    shutdown(fd_, SHUT_WR);
    deadline_ns_ = now_ns() + kDrainNs;
    char waste[4096];
    for (size_t left = kDrainBytes; left > sizeof waste && read(waste, sizeof waste) > 0;)
      left -= sizeof waste;
  }

  ssize_t read(char* data, size_t size) override {
    for (;;) {
      const ssize_t got = recv(fd_, data, size, MSG_DONTWAIT);
      if (got >= 0) return got;
      if (errno != EINTR && (errno != EAGAIN || !wait(POLLIN, deadline_ns_))) return -1;
    }
  }
  ssize_t write(const char* data, size_t size) override {
    // Time for each portion, not for the whole: a picture may be larger than what a slow link takes at once.
    const int64_t deadline = now_ns() + write_ns_;
    for (;;) {
      const ssize_t sent = send(fd_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0) return sent;
      if (errno != EINTR && (errno != EAGAIN || !wait(POLLOUT, deadline))) return -1;
    }
  }

  // httplib renamed some of these between 0.11 and 0.18: both names are here, without override.
  // NOLINTBEGIN(modernize-use-override)
  bool is_readable() const { return wait(POLLIN, deadline_ns_); }
  bool is_writable() const { return !closed() && wait(POLLOUT, now_ns() + write_ns_); }
  bool wait_readable() const { return is_readable(); }
  bool wait_writable() const { return is_writable(); }
  time_t duration() const { return 0; }
  // NOLINTEND(modernize-use-override)
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override { return fd_; }

  /// The client has closed its side: nothing is to be written any more.
  bool closed() const {
    char byte = 0;
    const ssize_t got = recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  }

 private:
  bool wait(short what, int64_t deadline) const {
    for (;;) {
      const int64_t left = deadline - now_ns();
      if (left <= 0) return false;
      pollfd waiting{fd_, what, 0};
      const int ready = poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left / 1'000'000 + 1, 60'000)));
      if (ready < 0 && errno != EINTR) return false;
      if (ready > 0) return true;
    }
  }

  const int fd_;
  const int64_t head_ns_, write_ns_;
  int64_t deadline_ns_ = 0;
};

/// httplib's parser and router without its sockets and threads.
class Router : public httplib::Server {
 public:
  /// Content providers are only called while the server seems to listen.
  void listening_on(int fd) { svr_sock_ = fd; }

  /// One request and its answer. False when the connection is at its end.
  bool serve(Connection& connection, bool last) {
    bool closed = false;
    return process(*this, connection, last, closed) && !closed;
  }

 private:
  /// 0.18 wants the addresses as arguments, 0.11 asks the stream.
  template <class S>
  static bool process(S& self, httplib::Stream& stream, bool last, bool& closed) {
    if constexpr (requires { self.process_request(stream, last, closed, nullptr); })
      return self.process_request(stream, last, closed, nullptr);
    else
      return self.process_request(stream, std::string(), 0, std::string(), 0, last, closed, nullptr);
  }
};

}  // namespace lensd
