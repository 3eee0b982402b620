// A raw HTTP connection for tests.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "core/base/clock.hpp"

namespace lensd::test {

class Client {
 public:
  explicit Client(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET, address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    closed_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0;
  }
  ~Client() { close(fd_); }
  void send_text(const std::string& text) const { send(fd_, text.data(), text.size(), MSG_NOSIGNAL); }
  void get(const std::string& path, const std::string& head = "") const {
    send_text("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + head + "\r\n");
  }
  /// Reads until `part` is received, the connection is closed or 10 s have passed. Returns everything
  /// received.
  std::string read_until(const std::string& part) {
    for (const int64_t end = now_ns() + 10'000'000'000;
         now_ns() < end && read_.find(part) == std::string::npos;) {
      pollfd waiting{fd_, POLLIN, 0};
      if (poll(&waiting, 1, 100) <= 0) continue;
      char bytes[4096];
      const ssize_t size = recv(fd_, bytes, sizeof bytes, 0);
      if (size <= 0) {
        closed_ = true;
        break;
      }
      read_.append(bytes, static_cast<size_t>(size));
    }
    return read_;
  }
  bool closed() const { return closed_; }

 private:
  int fd_;
  bool closed_ = false;
  std::string read_;
};

}  // namespace lensd::test
