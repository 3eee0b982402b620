// HTTP bytes into the real connection: no command runs without the token, and no body is parsed as a request.
#include <fuzzer/FuzzedDataProvider.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/base/unique_fd.hpp"
#include "core/control/http/http_connection.hpp"
#include "core/control/metrics.hpp"
#include "tests/fuzz/common/require.hpp"
#include "tests/fuzz/common/target.hpp"

namespace lensd {
namespace {

using fuzz::require;
constexpr int kPort = 8080;
constexpr int64_t kMaxNs = 4'000'000'000;
constexpr const char* kToken = "fuzz-token";

/// A connection over a socket pair. Its event loop runs on this thread.
class Connection {
 public:
  explicit Connection(const std::string& token) {
    options_.token = token, options_.page = "page", options_.schema = options_.filters = "{}";
    target.picture_ns = 1;
    int ends[2];
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "no socket pair");
    client_ = UniqueFd(ends[0]);
    boost::asio::ip::tcp::socket socket(context_);
    socket.assign(boost::asio::ip::tcp::v4(), ends[1]);
    connection_ = std::make_shared<HttpConnection>(std::move(socket), loop_, routes_, options_,
                                                   [this](HttpConnection&) { open_ = false; });
    connection_->start();
  }
  ~Connection() {
    loop_->close();
    connection_->close();
    connection_.reset();
    context_.restart();
    context_.poll();  // run the handlers of the operations that close() has cancelled
  }

  void send(std::string_view bytes) {
    const int64_t end = now_ns() + kMaxNs;
    while (!bytes.empty() && open_) {
      const ssize_t sent = ::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN) return;
      bytes.remove_prefix(sent > 0 ? static_cast<size_t>(sent) : 0);
      turn();
      require(now_ns() < end, "the connection takes no bytes");
    }
  }
  /// Closes the client's sending side and waits until the server has closed the connection.
  void finish() {
    shutdown(client_.get(), SHUT_WR);
    const int64_t end = now_ns() + kMaxNs;
    while (open_) {
      turn();
      require(now_ns() < end, "the connection stays open after its end");
    }
    turn();
    require(output.empty() || output.starts_with("HTTP/1."), "no response: {}", output.substr(0, 100));
  }

  fuzz::Target target;
  std::string output;

 private:
  void turn() {
    if (context_.stopped()) context_.restart();
    if (context_.poll() == 0) context_.run_one_for(std::chrono::milliseconds(1));
    char bytes[16384];
    for (ssize_t got; (got = recv(client_.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
      output.append(bytes, static_cast<size_t>(got));
  }

  EventHub hub_;
  HttpOptions options_;
  boost::asio::io_context context_{1};
  const std::shared_ptr<HttpLoop> loop_ = std::make_shared<HttpLoop>(context_);
  HttpRoutes routes_{target,
                     hub_,
                     options_,
                     kPort,
                     [this] { return metrics_text(target, {}); },
                     [](const HttpRoutes::Task& task) { task(); }};
  UniqueFd client_;
  bool open_ = true;
  std::shared_ptr<HttpConnection> connection_;
};

void send_raw(Connection& connection, FuzzedDataProvider& in) {
  const auto part = in.ConsumeIntegralInRange<size_t>(1, 4096);
  const std::string bytes = in.ConsumeRemainingBytesAsString();
  for (size_t at = 0; at < bytes.size(); at += part)
    connection.send(std::string_view(bytes).substr(at, part));
  connection.finish();
}

std::string chunked(FuzzedDataProvider& in, const std::string& body) {
  std::string out;
  for (size_t at = 0; at < body.size();) {
    const size_t size = std::min(body.size() - at, in.ConsumeIntegralInRange<size_t>(1, 300));
    out += fmt::format("{:x}\r\n{}\r\n", size, body.substr(at, size));
    at += size;
  }
  return out + "0\r\n\r\n";
}

/// Sends a request whose body contains another request, which must not be run.
void send_body(Connection& connection, FuzzedDataProvider& in) {
  static constexpr const char* kMethods[] = {"POST", "GET", "HEAD", "OPTIONS", "PUT", "DELETE", "NOTHING"};
  static constexpr const char* kHeads[] = {"",
                                           "Expect: 100-continue\r\n",
                                           "Content-Encoding: gzip\r\n",
                                           "Connection: keep-alive\r\n",
                                           "Origin: http://elsewhere\r\n",
                                           "Connection: upgrade\r\nUpgrade: h2c\r\n"};
  static const std::string kPaths[] = {"/healthz",
                                       "/api/v1/get",
                                       "/api/v1/pause",
                                       "/api/v1",
                                       "/nowhere",
                                       "/%zz",
                                       "*",
                                       "/events",
                                       "/stream.mjpeg",
                                       "/snapshot.jpg",
                                       "/" + std::string(kMaxUrlBytes, 'a')};
  const std::string quit = fmt::format(
      "POST /api/v1/quit HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: "
      "0\r\n\r\n",
      kToken);
  std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n{}", in.PickValueInArray(kMethods),
                                 in.PickValueInArray(kPaths), in.PickValueInArray(kHeads));
  if (in.ConsumeBool()) head += fmt::format("Authorization: Bearer {}\r\n", kToken);
  const bool chunks = in.ConsumeBool();
  const bool large = in.ConsumeBool();
  std::string body = in.ConsumeRandomLengthString() + quit + in.ConsumeRandomLengthString() + quit;
  if (large) body += std::string(kMaxBodyBytes, ' ') + quit;
  head +=
      chunks ? "Transfer-Encoding: chunked\r\n\r\n" : fmt::format("Content-Length: {}\r\n\r\n", body.size());
  connection.send(head);
  connection.send(chunks ? chunked(in, body) : body);
  connection.finish();
  require(!connection.target.ended, "a request in the body was run after\n{}", head);
}

}  // namespace
}  // namespace lensd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lensd;
  log::set_level("off");
  FuzzedDataProvider in(data, size);
  const int mode = in.ConsumeIntegralInRange(0, 2);
  Connection connection(mode == 0 ? "a token that no client has" : kToken);
  if (mode == 2) {
    send_body(connection, in);
    return 0;
  }
  send_raw(connection, in);
  if (mode == 0) {
    require(connection.target.changes == 0, "a change without the token");
    require(connection.target.encoded == 0, "a picture without the token");
  }
  return 0;
}
