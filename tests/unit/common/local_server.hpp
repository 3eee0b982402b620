// TCP servers on this machine, for tests of network sources.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "core/base/unique_fd.hpp"

namespace lensd {

/// A socket that listens on a free TCP port of an IPv4 address of this machine.
class Listener {
 public:
  explicit Listener(const char* host = "127.0.0.1") : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, host, &address.sin_addr);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(fd_.get(), generic, size), 0);
    EXPECT_EQ(listen(fd_.get(), 16), 0);
    getsockname(fd_.get(), generic, &size);
    port_ = ntohs(address.sin_port);
  }
  int fd() const { return fd_.get(); }
  uint16_t port() const { return port_; }
  /// Waits up to `timeout_ms` for a connection. Returns false if there is none.
  bool contacted(int timeout_ms = 200) const {
    pollfd waiting{fd_.get(), POLLIN, 0};
    return poll(&waiting, 1, timeout_ms) > 0;
  }

 private:
  UniqueFd fd_;
  uint16_t port_ = 0;
};

/// An HTTP server on 127.0.0.1 that answers one connection after the other.
class LocalHttpServer {
 public:
  /// Gets the connection and the head of the request. Closes the connection when it returns.
  using Answer = std::function<void(int client, const std::string& request)>;

  /// If `answer` is empty, clients can connect but get no answer.
  explicit LocalHttpServer(Answer answer) : answer_(std::move(answer)) {
    if (answer_) thread_ = std::thread([this] { serve(); });
  }
  ~LocalHttpServer() { end(); }
  LocalHttpServer(const LocalHttpServer&) = delete;
  LocalHttpServer& operator=(const LocalHttpServer&) = delete;

  uint16_t port() const { return listener_.port(); }
  bool ended() const { return ended_; }
  /// Waits for the last answer. Call it before what the answer uses is destroyed.
  void end() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
  }
  static bool put(int client, const std::string& text) {
    return send(client, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }

 private:
  void serve() const {
    while (!ended_) {
      if (!listener_.contacted(20)) continue;
      const UniqueFd client(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      std::string request;
      char part[2048];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t n = recv(client.get(), part, sizeof part, 0);
        if (n <= 0) break;
        request.append(part, static_cast<size_t>(n));
      }
      answer_(client.get(), request);
    }
  }

  const Answer answer_;
  const Listener listener_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace lensd
