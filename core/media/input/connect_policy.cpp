#include "core/media/input/connect_policy.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
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
  const auto embedded = [&v6](size_t at) {
    in_addr v4 = {};
    std::memcpy(&v4, v6.s6_addr + at, sizeof v4);
    return internal(v4);
  };
  const auto begins = [&v6](std::initializer_list<uint8_t> bytes) {
    return std::equal(bytes.begin(), bytes.end(), v6.s6_addr);
  };
  if (IN6_IS_ADDR_V4MAPPED(&v6) || IN6_IS_ADDR_V4COMPAT(&v6)) return embedded(12);
  if (begins({0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0})) return embedded(12);  // NAT64, RFC 6052
  if (begins({0x00, 0x64, 0xFF, 0x9B, 0, 1})) return true;                            // local NAT64, RFC 8215
  if (begins({0x20, 0x02})) return embedded(2);                                       // 6to4, RFC 3056
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

bool is_internal_text(const std::string& address) {
  sockaddr_in v4 = {};
  v4.sin_family = AF_INET;
  if (inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) return internal(v4.sin_addr);
  in6_addr v6 = {};
  return inet_pton(AF_INET6, address.c_str(), &v6) == 1 && internal(v6);
}

std::vector<std::string> resolve_name(const std::string& host) {
  std::vector<std::string> addresses;
  addrinfo hints = {}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return addresses;
  for (const addrinfo* a = list; a; a = a->ai_next) addresses.push_back(numeric(*a->ai_addr));
  freeaddrinfo(list);
  return addresses;
}

/// Returns true for a datagram socket and port 53, because DNS requests may go to internal name servers.
bool is_name_server(int fd, const sockaddr& address) {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_DGRAM) return false;
  // The port is at the same place in sockaddr_in and sockaddr_in6.
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port) == 53;
}

}  // namespace

bool is_internal_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) return internal(reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  return address.sa_family == AF_INET6 && internal(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

ConnectPolicy::ConnectPolicy() : resolve_(resolve_name) {}

void ConnectPolicy::allow(const std::string& host) {
  active_ = true;
  if (host.empty()) return;
  const std::vector<std::string> addresses = resolve_(host);
  if (std::ranges::all_of(addresses, is_internal_text))
    allowed_.insert(allowed_.end(), addresses.begin(), addresses.end());
}

bool ConnectPolicy::check(int fd, const sockaddr& address) {
  if (is_name_server(fd, address)) return true;
  ++connections_;
  return check(address);
}

bool ConnectPolicy::check(const sockaddr& address) {
  if (!active_ || !is_internal_address(address)) return true;
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

namespace {

/// Returns false, and sets errno, if a datagram to this address is not allowed. The address is null if the
/// socket is connected.
bool may_send(const void* address, socklen_t size) {
  if (!lensd::t_policy || !address || size < sizeof(sockaddr)) return true;
  if (lensd::t_policy->check(*static_cast<const sockaddr*>(address))) return true;
  errno = EACCES;
  return false;
}

/// Calls `receive`, unless this thread's source has reached its byte limit.
template <class Receive>
ssize_t receive_limited(const Receive& receive) {
  lensd::ConnectPolicy* const policy = lensd::t_policy;
  if (policy && policy->received_too_much()) {
    errno = EMSGSIZE;
    return -1;
  }
  const ssize_t bytes = receive();
  if (policy && bytes > 0) policy->received(bytes);
  return bytes;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int connect(int fd, const sockaddr* address,
                                                              socklen_t size) {
  if (lensd::t_policy && address && size >= sizeof(sockaddr) && !lensd::t_policy->check(fd, *address)) {
    errno = EACCES;
    return -1;
  }
  return static_cast<int>(syscall(SYS_connect, fd, address, size));
}

extern "C" __attribute__((visibility("default"))) ssize_t sendto(int fd, const void* data, size_t bytes,
                                                                 int flags, const sockaddr* address,
                                                                 socklen_t size) {
  if (!may_send(address, size)) return -1;
  return syscall(SYS_sendto, fd, data, bytes, flags, address, size);
}

extern "C" __attribute__((visibility("default"))) ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  if (message && !may_send(message->msg_name, message->msg_namelen)) return -1;
  return syscall(SYS_sendmsg, fd, message, flags);
}

// Unlike the functions above, these do not make the system call, so that a preloaded library can still
// replace them.
extern "C" __attribute__((visibility("default"))) ssize_t recv(int fd, void* data, size_t bytes, int flags) {
  static const auto next = reinterpret_cast<decltype(&recv)>(dlsym(RTLD_NEXT, "recv"));
  return receive_limited([&] { return next(fd, data, bytes, flags); });
}

extern "C" __attribute__((visibility("default"))) ssize_t recvfrom(int fd, void* data, size_t bytes,
                                                                   int flags, sockaddr* address,
                                                                   socklen_t* size) {
  static const auto next = reinterpret_cast<decltype(&recvfrom)>(dlsym(RTLD_NEXT, "recvfrom"));
  return receive_limited([&] { return next(fd, data, bytes, flags, address, size); });
}
