#include "app/serve/service_notify.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "core/base/clock.hpp"
#include "core/base/text/printable.hpp"

namespace lensd {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

ServiceNotify::ServiceNotify() : address_(variable("NOTIFY_SOCKET")) {
  const bool usable = address_.size() > 1 && address_.size() < sizeof(sockaddr_un::sun_path) &&
                      (address_[0] == '/' || address_[0] == '@');
  if (!usable) return;
  fd_ = UniqueFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const std::string pid = variable("WATCHDOG_PID");
  if (!pid.empty() && std::strtol(pid.c_str(), nullptr, 10) != getpid()) return;
  constexpr long long kLongestUs = 86'400'000'000;  // a day; larger values would overflow
  const long long limit_us = std::strtoll(variable("WATCHDOG_USEC").c_str(), nullptr, 10);
  watchdog_ns_ = std::clamp(limit_us, 0LL, kLongestUs) * 1000 / 2;
}

void ServiceNotify::send(const std::string& text) const {
  if (!fd_) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, address_.data(), address_.size());
  if (address_[0] == '@') address.sun_path[0] = '\0';  // abstract namespace
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  // Does not block: if the manager does not read, the message is lost.
  [[maybe_unused]] const ssize_t ignored = sendto(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL,
                                                  reinterpret_cast<const sockaddr*>(&address), size);
}

void ServiceNotify::ready(const std::string& status) const {
  send(fmt::format("READY=1\nSTATUS={}", printable(status)));
}

void ServiceNotify::status(const std::string& text) {
  if (text == status_) return;
  status_ = text;
  send("STATUS=" + printable(text));
}

void ServiceNotify::reloading() const {
  send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now_ns() / 1000));
}

void ServiceNotify::stopping() const {
  send("STOPPING=1");
}

void ServiceNotify::watchdog() const {
  send("WATCHDOG=1");
}

}  // namespace lensd
