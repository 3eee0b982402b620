#include "core/control/http/http_connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <exception>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/limits.hpp"
#include "core/base/log.hpp"
#include "core/base/text/text.hpp"
#include "core/control/http/http_url.hpp"

namespace lensd {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr uint32_t kMaxHead = 16 * 1024;  // bytes
constexpr size_t kMaxInput = 64 * 1024;   // bytes; capacity of the input buffer
constexpr uint64_t kRequestsPerConnection = 1000;
/// Added to the deadline of a write for each byte, so that a slow link (100 KB/s) receives a whole picture.
constexpr int64_t kNsPerByte = 10'000;
/// Limits for discarding unread input before a connection closes. If the input were not discarded, the client
/// could see a reset instead of the response.
constexpr auto kDrainTimeout = std::chrono::seconds(1);
constexpr size_t kDrainBytes = 4 << 20;

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

bool served(http::verb method) {
  return method == http::verb::get || method == http::verb::post || method == http::verb::head ||
         method == http::verb::options;
}

/// Returns true for errors of the parser, but not if the client has ended the connection.
bool malformed(const boost::system::error_code& error) {
  return error && error.category() == http::make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

}  // namespace

/// Returns a completion handler that calls kMember and shares ownership of this object. An exception, such as
/// a failed allocation, closes only this connection.
template <auto kMember>
auto HttpConnection::handler() {
  return [self = shared_from_this()](auto... results) {
    try {
      if (self->open_) (self.get()->*kMember)(results...);
    } catch (const std::exception& e) {
      log::warn("http: {}", e.what());
      self->close();
    }
  };
}

void HttpLoop::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (context_) asio::post(*context_, std::move(task));
}

void HttpLoop::close() {
  const std::lock_guard lock(mutex_);
  context_ = nullptr;
}

HttpConnection::HttpConnection(Socket socket, std::shared_ptr<HttpLoop> loop, HttpRoutes& routes,
                               const HttpOptions& options, Closed closed)
    : stream_(std::move(socket)),
      loop_(std::move(loop)),
      routes_(routes),
      options_(options),
      closed_(std::move(closed)),
      buffer_(kMaxInput),
      timer_(stream_.get_executor()) {
  Error ignored;
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  const auto endpoint = stream_.socket().remote_endpoint(ignored);
  if (!ignored) peer_ = endpoint.address().to_string();
}

void HttpConnection::start() {
  asio::post(stream_.get_executor(), handler<&HttpConnection::read_head>());
}

void HttpConnection::close() {
  if (!std::exchange(open_, false)) return;
  Error ignored;
  timer_.cancel();
  if (response_.stream) response_.stream->on_change(nullptr);
  response_.stream.reset();
  stream_.socket().close(ignored);
  closed_(*this);
}

void HttpConnection::read_head() {
  parser_.emplace();
  parser_->header_limit(kMaxHead);
  parser_->body_limit(options_.max_body);
  response_ = {}, serializer_.reset(), message_.reset(), head_only_.reset();
  stream_.expires_after(std::chrono::nanoseconds(options_.head_ns));
  http::async_read_header(stream_, buffer_, *parser_, handler<&HttpConnection::on_head>());
}

void HttpConnection::on_head(Error error, size_t) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return refuse(431);
  if (error == http::error::body_limit) return refuse(413);
  if (malformed(error)) return refuse(400);
  if (error) return close();
  ++number_;
  const auto& head = parser_->get();
  request_ = {std::string(view(head.method_string())), {}, {}, {}, {}};
  for (const auto& field : head) {
    std::string& value = request_.headers[lower_case(std::string(view(field.name_string())))];
    if (!value.empty()) value += ", ";
    value += view(field.value());
  }
  if (head.target().size() > kMaxUrlBytes) return refuse(414);
  if (!parse_target(view(head.target()), request_)) return refuse(400);
  if (!served(head.method())) return refuse(405);
  // With a transfer encoding other than `chunked`, the end of the body is unknown.
  const std::string encoding = lower_case(request_.header("transfer-encoding"));
  if (!encoding.empty() && (encoding != "chunked" || head.version() < 11)) return refuse(400);
  if (!request_.header("content-encoding").empty()) return refuse(415);
  if (parser_->content_length() && *parser_->content_length() > options_.max_body) return refuse(413);
  if (auto rejection = routes_.reject(request_)) return write(std::move(*rejection), body_pending());
  trusted_ = trusted_ || routes_.needs_token(request_);
  if (beast::iequals(head[http::field::expect], "100-continue")) {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue), [self = shared_from_this()](Error failed, size_t) {
      failed ? self->close() : self->read_body();
    });
    return;
  }
  read_body();
}

void HttpConnection::read_body() {
  stream_.expires_after(std::chrono::nanoseconds(options_.head_ns));
  http::async_read(stream_, buffer_, *parser_, handler<&HttpConnection::on_body>());
}

void HttpConnection::on_body(Error error, size_t) {
  if (error == http::error::body_limit) return refuse(413);
  if (error == beast::error::timeout) return refuse(408);
  if (malformed(error)) return refuse(400);
  if (error) return close();
  stream_.expires_never();
  request_.body = std::move(parser_->get().body());
  awaits_reply_ = true;
  timer_.expires_after(std::chrono::nanoseconds(options_.reply_ns));
  timer_.async_wait([self = shared_from_this(), number = number_](Error cancelled) {
    if (!cancelled) self->reply(number, std::nullopt);
  });
  routes_.respond(request_, [weak = weak_from_this(), loop = loop_, number = number_](HttpResponse response) {
    loop->post([weak, number, response = std::move(response)]() mutable {
      if (const auto self = weak.lock()) self->reply(number, std::move(response));
    });
  });
}

/// Responds with an error and closes the connection without parsing the rest of the request.
void HttpConnection::refuse(int status) {
  write(HttpRoutes::error(status), true);
}

/// Writes the response to request `number`. If `response` is nullopt, there was no reply in time: writes an
/// error and closes the connection. Does nothing if the request already has a response.
void HttpConnection::reply(uint64_t number, std::optional<HttpResponse> response) {
  if (!open_ || number != number_ || !std::exchange(awaits_reply_, false)) return;
  timer_.cancel();
  try {
    response ? write(std::move(*response), false) : refuse(503);
  } catch (const std::exception& e) {
    log::warn("http: {}", e.what());
    close();
  }
}

void HttpConnection::set_common(http::fields& fields) const {
  fields.set(http::field::cache_control, "no-store");
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("X-Frame-Options", "DENY");
  fields.set("Cross-Origin-Resource-Policy", "same-origin");
  fields.set("Content-Security-Policy",
             "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; "
             "script-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; "
             "base-uri 'none'; form-action 'none'");
  if (response_.stream) fields.set("X-Accel-Buffering", "no");  // otherwise nginx buffers the events
  if (!response_.type.empty()) fields.set(http::field::content_type, response_.type);
  for (const auto& [name, value] : response_.headers) fields.set(name, value);
}

void HttpConnection::write(HttpResponse response, bool close_after) {
  response_ = std::move(response);
  const auto& head = parser_->get();
  const bool keep_alive =
      !close_after && parser_->is_done() && parser_->keep_alive() && number_ < kRequestsPerConnection;
  close_after_ = !keep_alive;
  const std::string& body = response_.shared_body ? *response_.shared_body : response_.body;
  if (response_.stream && head.method() != http::verb::head) return start_stream();
  allow(body.size());
  const auto status = static_cast<unsigned>(response_.status);
  if (head.method() == http::verb::head) {
    head_only_.emplace();
    head_only_->result(status);
    set_common(*head_only_);
    head_only_->content_length(body.size());
    head_only_->keep_alive(keep_alive);
    stream_.expires_after(std::chrono::nanoseconds(options_.write_ns));
    http::async_write(stream_, *head_only_, handler<&HttpConnection::on_written>());
    return;
  }
  message_.emplace();
  message_->result(status);
  set_common(*message_);
  message_->body() = {body.data(), body.size()};
  message_->content_length(body.size());
  message_->keep_alive(keep_alive);
  serializer_.emplace(*message_);
  write_some();
}

/// Sets the deadline of a write of `bytes`.
void HttpConnection::allow(size_t bytes) {
  deadline_ns_ = now_ns() + options_.write_ns + static_cast<int64_t>(bytes) * kNsPerByte;
}

/// Sets the timeout of the next partial write: write_ns, but not after the deadline of the whole write.
void HttpConnection::limit_write() {
  stream_.expires_after(std::chrono::nanoseconds(std::min(options_.write_ns, deadline_ns_ - now_ns())));
}

void HttpConnection::write_some() {
  limit_write();
  http::async_write_some(stream_, *serializer_, handler<&HttpConnection::on_some>());
}

void HttpConnection::on_some(Error error, size_t bytes) {
  if (error || serializer_->is_done()) return on_written(error, bytes);
  write_some();
}

void HttpConnection::on_written(Error error, size_t) {
  if (error) return close();
  if (!close_after_) return read_head();
  Error ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kDrainTimeout);
  drain();
}

void HttpConnection::drain() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(kMaxInput), handler<&HttpConnection::on_drained>());
}

void HttpConnection::on_drained(Error error, size_t bytes) {
  drained_ += bytes;
  if (error || drained_ > kDrainBytes) return close();
  drain();
}

void HttpConnection::start_stream() {
  head_only_.emplace();
  head_only_->result(static_cast<unsigned>(response_.status));
  set_common(*head_only_);
  chunked_ = parser_->get().version() >= 11;
  head_only_->chunked(chunked_);
  head_only_->keep_alive(false);
  head_.emplace(*head_only_);
  stream_.expires_after(std::chrono::nanoseconds(options_.write_ns));
  http::async_write_header(stream_, *head_, handler<&HttpConnection::on_stream_head>());
}

void HttpConnection::on_stream_head(Error error, size_t) {
  if (error) return close();
  response_.stream->on_change([weak = weak_from_this(), loop = loop_] {
    loop->post([weak] {
      if (const auto self = weak.lock(); self && self->open_ && self->waiting_) self->write_part();
    });
  });
  watch_peer();
  write_part();
}

/// Closes the connection if the client of a stream disconnects or sends anything.
void HttpConnection::watch_peer() {
  stream_.socket().async_wait(asio::ip::tcp::socket::wait_read,
                              [self = shared_from_this()](Error) { self->close(); });
}

void HttpConnection::write_part() {
  waiting_ = false;
  if (part_.empty()) part_ = response_.stream->take();
  if (part_.empty()) {
    waiting_ = true;
    timer_.expires_after(response_.stream->heartbeat_delay());
    timer_.async_wait(handler<&HttpConnection::on_heartbeat>());
    return;
  }
  if (chunked_) part_ = fmt::format("{:x}\r\n{}\r\n", part_.size(), part_);
  part_sent_ = 0;
  allow(part_.size());
  write_some_of_part();
}

void HttpConnection::write_some_of_part() {
  limit_write();
  stream_.async_write_some(asio::buffer(part_) + part_sent_, handler<&HttpConnection::on_part>());
}

void HttpConnection::on_part(Error error, size_t bytes) {
  if (error) return close();
  part_sent_ += bytes;
  if (part_sent_ < part_.size()) return write_some_of_part();
  part_.clear();
  write_part();
}

void HttpConnection::on_heartbeat(Error error) {
  if (error || !waiting_) return;
  part_ = response_.stream->heartbeat();
  write_part();
}

/// Returns true if the request has a body that was not read.
bool HttpConnection::body_pending() const {
  return !parser_->is_done() &&
         (parser_->chunked() || (parser_->content_length() && *parser_->content_length() > 0));
}

}  // namespace lensd
