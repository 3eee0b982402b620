#include "core/control/http/http_listener.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"

namespace lensd {
namespace {

int bind_to(const std::string& address, int port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC, hints.ai_socktype = SOCK_STREAM, hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const std::string name = address == "localhost" ? "127.0.0.1" : address, service = std::to_string(port);
  const auto fail = [&](const std::string& reason) {
    return Error(ExitCode::runtime_failure, fmt::format("http {}:{}", address, port), reason,
                 "choose another [http] address or port");
  };
  if (const int error = getaddrinfo(name.c_str(), service.c_str(), &hints, &found); error != 0)
    throw fail(gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 64) != 0) {
    const std::string reason = std::strerror(errno);
    if (fd >= 0) close(fd);
    throw fail(reason);
  }
  return fd;
}

}  // namespace

HttpListener::HttpListener(const std::string& address, int port, int max_connections)
    : fd_(bind_to(address, port)),
      stop_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      max_connections_(max_connections) {}

HttpListener::~HttpListener() {
  stop();
  close(fd_);
  close(stop_event_);
}

void HttpListener::start(std::function<void(int fd)> serve) {
  serve_ = std::move(serve);
  accepting_ = std::thread([this] { accept_loop(); });
}

void HttpListener::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(stop_event_, &one, sizeof one);
  if (accepting_.joinable()) accepting_.join();
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return open_.empty(); });
}

int HttpListener::port() const {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

int HttpListener::connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(open_.size());
}

void HttpListener::accept_loop() {
  while (!stopping_) {
    pollfd waiting[2] = {{fd_, POLLIN, 0}, {stop_event_, POLLIN, 0}};
    poll(waiting, 2, -1);
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      // Out of descriptors: the connection stays in the queue until one is free.
      if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      continue;
    }
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (!admit(fd)) {
      ++turned_away_;
      constexpr std::string_view text =
          "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
      [[maybe_unused]] const ssize_t ignored =
          send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      close(fd);
    }
  }
}

/// False: there are too many.
bool HttpListener::admit(int fd) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || static_cast<int>(open_.size()) >= max_connections_) return false;
  open_.insert(fd);
  std::thread([this, fd] {
    serve_(fd);
    const std::lock_guard done(mutex_);
    open_.erase(fd);
    close(fd);
    ended_.notify_all();
  }).detach();  // waited for by number: stop()
  return true;
}

}  // namespace lensd
