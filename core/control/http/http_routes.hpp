// The HTTP interface: which requests are admitted and what responds to each path.
//
//   HttpRequest ── reject(), before the body is read ──▶ 302, 401, 403
//              └── respond() ──▶ run_command(), ControlTarget, EventHub, PictureStream ──▶ HttpReply
//
// Requests need the token (unless auth is off or the path is /healthz), an expected Host and, from a browser,
// the same Origin. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/limits.hpp"
#include "core/control/events.hpp"
#include "core/control/http/http_message.hpp"
#include "core/control/http/picture_stream.hpp"

namespace lensd {

struct HttpOptions {
  std::string address = "127.0.0.1";
  int port = 0;                    ///< 0: a free one, see HttpServer::port()
  std::vector<std::string> hosts;  ///< additional names accepted in the Host header
  bool auth = true;                ///< false: no token is needed; allowed on loopback addresses only
  std::string token;               ///< empty: a random one
  int max_connections = 48;
  int stream_fps = 15;
  int64_t head_ns = 5'000'000'000;  ///< time limit for receiving the head; the body has the same limit
  /// Time limit of a write without progress. A whole write may take 10 µs per byte longer.
  int64_t write_ns = 5'000'000'000;
  int64_t reply_ns = 40'000'000'000;  ///< how long a request waits for its reply
  size_t max_body = kMaxBodyBytes;
  std::string page;     ///< HTML of `/`
  std::string schema;   ///< JSON of /schema.json
  std::string filters;  ///< JSON of /api/v1/filters: all filters with their parameters
  /// Returns the text of /metrics. The arguments are counters of the server.
  std::function<std::string(int connections, uint64_t refused)> metrics = [](int, uint64_t) {
    return std::string();
  };
  std::function<void()> wake = [] {};  ///< called after each new subscriber; use SocketServer::wake()
};

class HttpRoutes {
 public:
  using Task = std::function<void()>;

  /// `options` must outlive the routes. `port` is part of the cookie's name. `metrics` returns the text of
  /// /metrics. `run_blocking` runs a task on another thread; it is used to encode pictures.
  HttpRoutes(ControlTarget& target, EventHub& hub, const HttpOptions& options, int port,
             std::function<std::string()> metrics, std::function<void(Task)> run_blocking);

  /// Returns nullopt if the request is admitted. Otherwise returns an error, or the redirect that sets the
  /// token's cookie. Ignores the body.
  std::optional<HttpResponse> reject(const HttpRequest& request) const;
  static bool needs_token(const HttpRequest& request) { return request.path != "/healthz"; }
  /// Does not block. Calls `reply` once, immediately or later from any thread.
  void respond(const HttpRequest& request, HttpReply reply);
  /// Returns a response with the HTTP status `status` and an error message.
  static HttpResponse error(int status);

 private:
  std::string redirect_target(const std::string& path) const;
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  void command(const HttpRequest& request, const std::string& name, HttpReply reply) const;
  void run(const Json& command, HttpReply reply) const;
  HttpResponse health() const;
  HttpResponse picture(PictureType type) const;
  HttpResponse events(const HttpRequest& request) const;

  ControlTarget& target_;
  EventHub& hub_;
  const HttpOptions& options_;
  const std::string cookie_;
  const std::function<void(Task)> run_blocking_;
  PictureStream pictures_;
  const std::map<std::string, Handler> get_handlers_;
};

}  // namespace lensd
