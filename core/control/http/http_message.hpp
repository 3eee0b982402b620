// An HTTP request and its response as values, independent of the HTTP library.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lensd {

using HttpParameters = std::multimap<std::string, std::string>;

struct HttpRequest {
  std::string method, path;  ///< the path is decoded and has no query
  HttpParameters query;      ///< decoded
  std::map<std::string, std::string>
      headers;  ///< names in lower case; values of repeated headers are joined by ", "
  std::string body;

  /// Returns the header's value, or an empty string. `name` must be in lower case.
  std::string header(const std::string& name) const {
    const auto it = headers.find(name);
    return it == headers.end() ? std::string() : it->second;
  }
};

/// A response body without a fixed length, sent until the connection closes. take() and heartbeat() are
/// called on the server's thread.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  /// Sets the callback for new data; null removes the callback. The callback runs on any thread.
  virtual void on_change(std::function<void()> changed) = 0;
  /// Returns new data, or an empty string if there is none. Does not block.
  virtual std::string take() = 0;
  /// Returns what to send if there is no new data for heartbeat_delay(); empty: nothing. If the client is
  /// gone, writing the heartbeat fails and the connection closes.
  virtual std::string heartbeat() { return {}; }
  virtual std::chrono::milliseconds heartbeat_delay() const { return std::chrono::seconds(5); }
};

struct HttpResponse {
  int status = 200;
  std::string type;  ///< Content-Type
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<const std::string> shared_body;  ///< instead of `body`, if not null
  std::shared_ptr<HttpStream> stream;              ///< instead of a body, if not null
};

/// Receives the response to one request. Called once, from any thread.
using HttpReply = std::function<void(HttpResponse)>;

}  // namespace lensd
