// The HTTP server: an event loop over all connections. HttpRoutes responds to the requests.
//
//   event thread: accept ──▶ HttpConnection, at most max_connections ──▶ HttpRoutes ──▶ response
//   encoder threads: snapshots, the picture stream
//
// At max_connections, a new connection replaces one that has not sent the token. If all connections have sent
// it, the new one is refused. There is no TLS. If clients connect over a network, put a proxy with TLS in
// front.
#pragma once

#include <memory>
#include <string>

#include "core/control/http/http_routes.hpp"

namespace lensd {

class HttpServer {
 public:
  /// Binds and starts the threads. Throws Error(usage) if the address is empty, or if auth is off and the
  /// address is not a loopback address. Throws Error(runtime_failure) if the address cannot be used.
  HttpServer(ControlTarget& target, EventHub& hub, HttpOptions options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  const std::string& token() const;
  /// Returns the panel's URL, with the token unless auth is off.
  std::string url() const;
  /// Returns the number of open connections. Thread-safe.
  int connections() const;
  /// Returns how many connections were refused, or closed to make room for a new one, because
  /// max_connections was reached. Thread-safe.
  uint64_t refused() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lensd
