// The HTTP server: an event loop over all connections. HttpRoutes responds to the requests.
//
//   event thread: accept ──▶ HttpConnection, at most max_connections ──▶ HttpRoutes ──▶ response
//   encoder threads: snapshots, the picture stream
//
// The number of connections is bounded. If it is reached, a connection that has not shown the token makes
// room for a new one. There is no TLS: put a proxy with TLS in front if requests leave the machine.
#pragma once

#include <memory>
#include <string>

#include "core/control/http/http_routes.hpp"

namespace lensd {

class HttpServer {
 public:
  /// Binds and starts. Throws Error(usage) if auth is off on an address that is not loopback,
  /// Error(runtime_failure) if the address cannot be used.
  HttpServer(ControlTarget& target, EventHub& hub, HttpOptions options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  const std::string& token() const;
  /// The address of the panel, with the token.
  std::string url() const;
  /// Open connections, and those that were refused because there were too many.
  int connections() const;
  uint64_t refused() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lensd
