// The addresses that FFmpeg may connect to for a network source.
//
//   Input ── Scope ──▶ FFmpeg's calls in this thread ── connect() ──▶ ConnectPolicy
//
// FFmpeg resolves names and follows redirections itself. A server on the internet must not make this machine
// connect to hosts of the private network, so the address of every TCP connection is checked:
// connect_policy.cpp defines connect(), which FFmpeg's libraries call instead of the C library's function.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

namespace lensd {

/// Returns true for addresses of this machine, and for private, link-local, multicast and reserved addresses.
bool is_internal_address(const sockaddr& address);

/// Decides to which addresses a source may connect. Use it from one thread at a time.
class ConnectPolicy {
 public:
  /// Allows TCP connections to the addresses of `host`. From the first call on, TCP connections to all other
  /// internal addresses are refused. Resolves the name, which may block. Allows no address if `host` is empty
  /// or cannot be resolved.
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
  bool active_ = false;
  std::vector<std::string> allowed_;  // numeric addresses
  std::string refused_;
};

}  // namespace lensd
