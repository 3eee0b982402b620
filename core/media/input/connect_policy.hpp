// Limits the addresses that FFmpeg contacts for a network source, and the number of bytes that it receives.
//
//   Input ── Scope ──▶ FFmpeg's calls in this thread ── connect(), sendto(), sendmsg() ──▶ ConnectPolicy
//                                                 ── recv(), recvfrom() ──▶ byte limit
//
// FFmpeg resolves names and follows redirections itself, and sends RTP and RTCP datagrams to the address that
// an RTSP server names. A server on the internet must not make this machine contact hosts of the private
// network, so every such address is checked. connect_policy.cpp defines the functions named above; FFmpeg's
// libraries call them instead of those of the C library. FFmpeg's own threads only receive datagrams.
//
// A server may send a picture that never ends, of which FFmpeg would buffer up to 2 GiB. Hence the byte
// limit.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace lensd {

/// Returns true for loopback, private, link-local, multicast and reserved addresses. For IPv6 addresses that
/// contain an IPv4 address (mapped, compatible, NAT64, 6to4), checks the IPv4 address.
bool is_internal_address(const sockaddr& address);

/// Decides which addresses a source may contact. Use it from one thread at a time.
class ConnectPolicy {
 public:
  /// Returns the numeric addresses of a name; none if it cannot be resolved. May block.
  using Resolve = std::function<std::vector<std::string>(const std::string& host)>;

  /// Uses the system's resolver.
  ConnectPolicy();
  explicit ConnectPolicy(Resolve resolve) : resolve_(std::move(resolve)) {}

  /// Allows connections and datagrams to the addresses of `host`. After the first call, all other internal
  /// addresses are refused, except for connected datagram sockets to name servers. If the name has
  /// public addresses, too, its internal ones are not allowed: a foreign name server may have added them.
  /// Resolves the name, which may block. Allows no address if `host` is empty or cannot be resolved.
  void allow(const std::string& host);

  /// Returns the last refused address; empty if there was none.
  const std::string& refused_address() const noexcept { return refused_; }
  /// Returns the number of connections that were allowed or refused, except those to name servers.
  int connections() const noexcept { return connections_; }

  /// Limits what recv() and recvfrom() return from now on to about `bytes`. Beyond the limit they fail.
  void limit_received(int64_t bytes) noexcept { left_bytes_ = bytes; }
  bool received_too_much() const noexcept { return left_bytes_ <= 0; }
  /// Called by recv() and recvfrom().
  void received(int64_t bytes) noexcept { left_bytes_ -= bytes; }

  /// Applies a policy to this thread's connections and datagrams during its lifetime.
  class Scope {
   public:
    explicit Scope(ConnectPolicy& policy) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ConnectPolicy* const outer_;
  };

  /// Returns false, and stores the address for refused_address(), if the connection is not allowed. Called by
  /// connect().
  bool check(int fd, const sockaddr& address);
  /// Like check(int, const sockaddr&), for a datagram and without the exception for name servers. Called by
  /// sendto() and sendmsg().
  bool check(const sockaddr& address);

 private:
  Resolve resolve_;
  bool active_ = false;
  std::vector<std::string> allowed_;  // numeric addresses
  std::string refused_;
  int connections_ = 0;
  int64_t left_bytes_ = std::numeric_limits<int64_t>::max();
};

}  // namespace lensd
