// The addresses that FFmpeg may connect to for a network source.
//
//   Input ── Scope ──▶ FFmpeg's calls in this thread ── connect() ──▶ ConnectPolicy
//
// FFmpeg resolves names and follows redirections itself. A server on the internet must not make this machine
// connect to hosts of the private network, so the address of every connection is checked:
// connect_policy.cpp defines connect(), which FFmpeg's libraries call instead of the C library's function.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lensd {

/// Returns true for addresses of this machine, and for private, link-local, multicast and reserved addresses.
/// For IPv6 addresses that contain an IPv4 address (mapped, NAT64, 6to4), checks the IPv4 address.
bool is_internal_address(const sockaddr& address);

/// Decides to which addresses a source may connect. Use it from one thread at a time.
class ConnectPolicy {
 public:
  /// Returns the numeric addresses of a name; none if it cannot be resolved. May block.
  using Resolve = std::function<std::vector<std::string>(const std::string& host)>;

  /// Uses the system's resolver.
  ConnectPolicy();
  explicit ConnectPolicy(Resolve resolve) : resolve_(std::move(resolve)) {}

  /// Allows connections to the addresses of `host`. From the first call on, connections to all other internal
  /// addresses are refused, except datagrams to name servers. If the name has public addresses, too, its
  /// internal ones are not allowed: a foreign name server may have added them. Resolves the name, which may
  /// block. Allows no address if `host` is empty or cannot be resolved.
  void allow(const std::string& host);

  /// Returns the last refused address; empty if there was none.
  const std::string& refused() const noexcept { return refused_; }

  /// Applies a policy to this thread's connections during its lifetime.
  class Scope {
   public:
    explicit Scope(ConnectPolicy& policy) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ConnectPolicy* const outer_;
  };

  /// Returns false, and stores the address for refused(), if the connection is not allowed. Called by
  /// connect().
  bool check(int fd, const sockaddr& address);

 private:
  Resolve resolve_;
  bool active_ = false;
  std::vector<std::string> allowed_;  // numeric addresses
  std::string refused_;
};

}  // namespace lensd
