// One HTTP connection: reads requests one after another and writes the responses.
//
//   head ── HttpRoutes::reject() ──▶ body ── HttpRoutes::respond() ──▶ response ──▶ next request
//
// The sizes of head and body are limited. Head, body and every write have a deadline that further bytes do
// not extend. If a request is refused before its body is read, the connection closes. Otherwise the body
// would be parsed as the next request.
//
// Call from the server's thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/control/http/http_routes.hpp"

namespace lensd {

/// Runs tasks from other threads on the server's thread. Reply callbacks share ownership of the loop and may
/// outlive the server; their tasks are then discarded. Thread-safe.
class HttpLoop {
 public:
  explicit HttpLoop(boost::asio::io_context& context) : context_(&context) {}
  void post(std::function<void()> task);
  /// Discards later tasks. Call before the context is destroyed.
  void close();

 private:
  std::mutex mutex_;
  boost::asio::io_context* context_;
};

class HttpConnection final : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Closed = std::function<void(HttpConnection&)>;

  /// `closed` is called once, when the socket is closed. `routes` and `options` must outlive the connection.
  HttpConnection(Socket socket, std::shared_ptr<HttpLoop> loop, HttpRoutes& routes,
                 const HttpOptions& options, Closed closed);

  void start();
  void close();
  /// Returns true if a request that needs the token was admitted on this connection.
  bool trusted() const noexcept { return trusted_; }
  const std::string& peer() const noexcept { return peer_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using Body = boost::beast::http::span_body<const char>;
  using Error = boost::system::error_code;
  template <auto kMember>
  auto handler();

  void read_head();
  void on_head(Error error, size_t bytes);
  void read_body();
  void on_body(Error error, size_t bytes);
  void refuse(int status);
  void reply(uint64_t number, std::optional<HttpResponse> response);
  void write(HttpResponse response, bool close_after);
  void allow(size_t bytes);
  void limit_write();
  void write_some();
  void on_some(Error error, size_t bytes);
  void on_written(Error error, size_t bytes);
  void drain();
  void on_drained(Error error, size_t bytes);
  void start_stream();
  void on_stream_head(Error error, size_t bytes);
  void watch_peer();
  void write_part();
  void write_some_of_part();
  void on_part(Error error, size_t bytes);
  void on_heartbeat(Error error);
  bool body_pending() const;
  void set_common(boost::beast::http::fields& fields) const;

  boost::beast::tcp_stream stream_;
  const std::shared_ptr<HttpLoop> loop_;
  HttpRoutes& routes_;
  const HttpOptions& options_;
  Closed closed_;
  std::string peer_;
  bool trusted_ = false, open_ = true;

  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  HttpRequest request_;
  uint64_t number_ = 0;        ///< number of the current request, from 1
  bool awaits_reply_ = false;  ///< the current request was read and has no response yet
  boost::asio::steady_timer timer_;

  HttpResponse response_;
  std::optional<boost::beast::http::response<Body>> message_;
  std::optional<boost::beast::http::response_serializer<Body>> serializer_;
  std::optional<boost::beast::http::response<boost::beast::http::empty_body>> head_only_;
  std::optional<boost::beast::http::response_serializer<boost::beast::http::empty_body>> head_;
  bool close_after_ = false, chunked_ = false, waiting_ = false;
  std::string part_;
  size_t part_sent_ = 0, drained_ = 0;
  int64_t deadline_ns_ = 0;  ///< deadline of the current write
};

}  // namespace lensd
