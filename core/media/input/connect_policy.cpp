#include "core/media/input/connect_policy.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace lensd {
namespace {

thread_local ConnectPolicy* t_policy = nullptr;

bool internal(const in_addr& v4) {
  const uint32_t a = ntohl(v4.s_addr);
  const auto within = [a](uint32_t net, int bits) { return (a >> (32 - bits)) == (net >> (32 - bits)); };
  return within(0x00000000, 8) || within(0x0A000000, 8) || within(0x64400000, 10) || within(0x7F000000, 8) ||
         within(0xA9FE0000, 16) || within(0xAC100000, 12) || within(0xC0A80000, 16) || within(0xE0000000, 3);
}

bool internal(const in6_addr& v6) {
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    in_addr v4 = {};
    std::memcpy(&v4, v6.s6_addr + 12, 4);
    return internal(v4);
  }
  return IN6_IS_ADDR_LOOPBACK(&v6) || IN6_IS_ADDR_UNSPECIFIED(&v6) || IN6_IS_ADDR_LINKLOCAL(&v6) ||
         IN6_IS_ADDR_SITELOCAL(&v6) || IN6_IS_ADDR_MULTICAST(&v6) || (v6.s6_addr[0] & 0xFE) == 0xFC;
}

std::string numeric(const sockaddr& address) {
  const void* bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  if (address.sa_family == AF_INET6) bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(address.sa_family, bytes, text, sizeof text);
  return text;
}

}  // namespace

bool is_internal_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) return internal(reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  return address.sa_family == AF_INET6 && internal(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

void ConnectPolicy::allow(const std::string& host) {
  active_ = true;
  addrinfo hints = {}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (host.empty() || getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return;
  for (const addrinfo* a = list; a; a = a->ai_next) allowed_.push_back(numeric(*a->ai_addr));
  freeaddrinfo(list);
}

bool ConnectPolicy::check(int fd, const sockaddr& address) {
  int type = 0;
  socklen_t size = sizeof type;
  const bool tcp = getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
  if (!active_ || !tcp || !is_internal_address(address)) return true;
  std::string text = numeric(address);
  if (std::ranges::find(allowed_, text) != allowed_.end()) return true;
  refused_ = std::move(text);
  return false;
}

ConnectPolicy::Scope::Scope(ConnectPolicy& policy) noexcept : outer_(std::exchange(t_policy, &policy)) {}

ConnectPolicy::Scope::~Scope() {
  t_policy = outer_;
}

}  // namespace lensd

extern "C" __attribute__((visibility("default"))) int connect(int fd, const sockaddr* address,
                                                              socklen_t size) {
  if (lensd::t_policy && address && size >= sizeof(sockaddr) && !lensd::t_policy->check(fd, *address)) {
    errno = EACCES;
    return -1;
  }
  return static_cast<int>(syscall(SYS_connect, fd, address, size));
}
