// HTTP control: the commands as JSON, events, pictures, metrics and the panel page.
//
//   accept thread ──▶ a thread a connection, at most max_connections ──▶ run_command(), ControlTarget
//   stream thread ──▶ one JPEG of the newest frame, shared by all who watch; asleep while nobody does
//
// Requests must come with the token, an expected Host and, from a browser, the same Origin. Head, body and
// number of connections are bounded, and every read and write has a deadline, so that a slow client holds one
// bounded connection for a bounded time. Plain HTTP: put a proxy with TLS before it where it leaves the
// machine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/control/events.hpp"
#include "core/control/target.hpp"

namespace lensd {

struct HttpOptions {
  std::string address = "127.0.0.1";
  int port = 0;                    ///< 0: a free one, see HttpServer::port()
  std::vector<std::string> hosts;  ///< further names that Host may have
  bool auth = true;                ///< false: no token, on loopback addresses only
  std::string token;               ///< empty: a random one
  int max_connections = 48;
  int stream_fps = 15;
  int64_t head_ns = 5'000'000'000;   ///< for a whole request to arrive
  int64_t write_ns = 5'000'000'000;  ///< for a client to take anything
  size_t max_body = 256 * 1024;      ///< bytes
  std::string page;                  ///< HTML of `/`
  std::string schema;                ///< JSON of /schema.json
  std::string filters;               ///< JSON of /api/v1/filters: all filters with their parameters
  /// The text of /metrics, from what only the server knows.
  std::function<std::string(int connections, uint64_t turned_away)> metrics = [](int, uint64_t) {
    return std::string();
  };
  std::function<void()> wake = [] {};  ///< called when there is a new subscriber: SocketServer::wake()
};

class HttpServer {
 public:
  /// Binds and starts. Throws Error(usage) for auth off on an address that is not loopback,
  /// Error(runtime_failure) when the address cannot be used.
  HttpServer(ControlTarget& target, EventHub& hub, HttpOptions options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  const std::string& token() const;
  /// Ready to be opened, with the token.
  std::string url() const;
  /// Connections now, and those that were turned away because there were too many.
  int connections() const;
  uint64_t turned_away() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lensd
