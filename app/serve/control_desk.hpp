// The ways in which a session is controlled from outside: the socket, and HTTP where it is asked for.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/cli.hpp"
#include "app/serve/session.hpp"
#include "core/control/http/http_server.hpp"
#include "core/control/socket/socket_server.hpp"

namespace lensd {

struct ControlDeskOptions {
  SocketOptions socket;
  std::optional<HttpOptions> http;
};

/// What the command line and the configuration ask for. `listen_by_default`: without a word about the socket,
/// there is one at default_socket_path(). Throws Error(usage) and Error(invalid_config).
ControlDeskOptions desk_options(const CommandLine& line, bool listen_by_default);

/// Serves while it lives; goes before its session.
class ControlDesk {
 public:
  ControlDesk(Session& session, const ControlDeskOptions& options);
  ~ControlDesk();
  ControlDesk(const ControlDesk&) = delete;
  ControlDesk& operator=(const ControlDesk&) = delete;

 private:
  void start_http(HttpOptions options);
  std::string metrics(int connections, uint64_t turned_away) const;

  Session& session_;
  std::unique_ptr<SocketServer> server_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace lensd
