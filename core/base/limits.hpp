// Limits of requests and files. docs/control.md lists them for users.
//
// Check a limit before any work whose cost grows with the request.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lensd {

inline constexpr size_t kMaxNodes = 256;
inline constexpr size_t kMaxNodeInputs = 16;  ///< inputs of a node; filters have lower limits
inline constexpr size_t kMaxNodeParams = 64;
inline constexpr size_t kMaxNameBytes = 64;  ///< length of a node's id or a filter's name
inline constexpr size_t kMaxUrlBytes = 4096;

inline constexpr size_t kMaxRequestBytes = 64 * 1024;  ///< length of a line on the control socket
inline constexpr size_t kMaxBodyBytes = 256 * 1024;    ///< size of the body of an HTTP request
inline constexpr int kMaxRequestDepth = 32;            ///< nesting levels of JSON
inline constexpr size_t kMaxRequestNames = 1024;       ///< properties or controls in one request
/// Default and maximum of [control] max_clients, the limit of connections to the control socket.
inline constexpr int kDefaultClients = 128, kMaxClients = 1024;
/// Default and maximum of [http] max_connections.
inline constexpr int kDefaultConnections = 48, kMaxConnections = 512;

inline constexpr size_t kMaxConfigBytes = 1 << 20;
inline constexpr size_t kMaxConfigDepth = 32;  ///< levels of nested TOML values; parts of a dotted key

/// Messages show at most this number of bytes of a name.
inline constexpr size_t kShownName = 80;
/// Maximum number of problems in one message.
inline constexpr size_t kMaxProblems = 100;

/// Replaces all problems after the first kMaxProblems with "and N more problems".
inline void cap_problems(std::vector<std::string>& problems) {
  if (problems.size() <= kMaxProblems) return;
  const size_t more = problems.size() - kMaxProblems;
  problems.resize(kMaxProblems);
  problems.push_back("and " + std::to_string(more) + " more problems");
}

}  // namespace lensd
