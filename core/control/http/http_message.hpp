// An HTTP request and its response as values, independent of the HTTP library.
#pragma once

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

  /// Empty if there is no such header; `name` in lower case.
  std::string header(const std::string& name) const {
    const auto it = headers.find(name);
    return it == headers.end() ? std::string() : it->second;
  }
};

/// A body that continues until the connection closes. take() and heartbeat() are called on the server's
/// thread.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  /// Sets what to call, from any thread, whenever take() may return something new.
  virtual void on_change(std::function<void()> changed) = 0;
  /// Returns what is new, or an empty text. Does not block.
  virtual std::string take() = 0;
  /// Sent when there was nothing for some seconds, so that a write shows whether the client is still there.
  virtual std::string heartbeat() const { return {}; }
};

struct HttpResponse {
  int status = 200;
  std::string type;  ///< Content-Type
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<const std::string> shared_body;  ///< instead of `body`, if not null
  std::shared_ptr<HttpStream> stream;              ///< instead of a body, if not null
};

/// Receives the response to one request: called once, from any thread.
using HttpReply = std::function<void(HttpResponse)>;

}  // namespace lensd
