// The servers that control a session: the socket, and HTTP if it is enabled.
#pragma once

#include <memory>
#include <optional>

#include "app/cli.hpp"
#include "app/serve/session.hpp"
#include "core/control/http/http_server.hpp"
#include "core/control/socket/socket_server.hpp"

namespace lensd {

struct ControlOptions {
  SocketOptions socket;
  std::optional<HttpOptions> http;
};

/// Returns the options from the command line and the configuration. Uses default_socket_path() if neither
/// names a socket and `listen_by_default` is true. Throws Error(invalid_config) if [http] token_file has no
/// valid token.
ControlOptions control_options(const CommandLine& line, bool listen_by_default);

/// Owns the servers, which run from construction to destruction. Destroy it before `session`.
class ControlServers {
 public:
  ControlServers(Session& session, const ControlOptions& options);
  ~ControlServers();
  ControlServers(const ControlServers&) = delete;
  ControlServers& operator=(const ControlServers&) = delete;

 private:
  void start_http(HttpOptions options);

  Session& session_;
  std::unique_ptr<SocketServer> socket_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace lensd
