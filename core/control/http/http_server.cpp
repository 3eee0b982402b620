#include "core/control/http/http_server.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/error.hpp"
#include "core/control/http/http_access.hpp"
#include "core/control/http/http_commands.hpp"
#include "core/control/http/http_connection.hpp"
#include "core/control/http/http_listener.hpp"
#include "core/control/http/picture_stream.hpp"

namespace lensd {
namespace {

using httplib::Request;
using httplib::Response;

constexpr const char* kBoundary = "lensd-frame";
constexpr const char* kJson = "application/json";
constexpr int kRequestsPerConnection = 1000;

void answer(Response& response, const Answer& given) {
  response.status = http_status(given.fault);
  response.set_content(answer_text(given, nullptr) + "\n", kJson);
}

/// What has no answer from the command table.
void refuse(Response& response, int status, const char* sentence) {
  response.status = status;
  response.set_content(fmt::format("{{\"error\":\"{}\"}}\n", sentence), kJson);
}

HttpOptions checked(HttpOptions options) {
  if (!options.auth && !is_loopback(options.address))
    throw Error(ExitCode::usage, "[http]", "auth = false is for loopback addresses only",
                "listen on 127.0.0.1, or keep the token");
  if (options.auth && options.token.empty()) options.token = make_token();
  return options;
}

/// What the handlers of a request know beside it: a thread serves one connection, from its start to its end.
struct Serving {
  Connection* connection = nullptr;
  /// The request was turned down before its body was read: the connection cannot go on.
  bool body_unread = false;
};

Serving& serving() {
  static thread_local Serving here;
  return here;
}

}  // namespace

/// The routes. What they need is made before the listener lets anybody in, and outlives it.
class HttpServer::Impl {
 public:
  Impl(ControlTarget& target, EventHub& hub, HttpOptions options)
      : target_(target),
        hub_(hub),
        options_(checked(std::move(options))),
        pictures_([this](int64_t made_after_ns) { return target_.picture(PictureType::jpeg, made_after_ns); },
                  options_.stream_fps),
        listener_(options_.address, options_.port, options_.max_connections),
        commands_(target, [this] { return listener_.stopping(); }) {
    router_.listening_on(listener_.fd());
    rules();
    routes();
    listener_.start([this](int fd) { serve(fd); });
  }

  ~Impl() {
    pictures_.stop();
    listener_.stop();
  }

  const HttpOptions& options() const { return options_; }
  const HttpListener& listener() const { return listener_; }

 private:
  void serve(int fd) {
    Connection connection(fd, options_.head_ns, options_.write_ns);
    Serving& here = serving();
    here = {&connection, false};
    for (int i = 1; !listener_.stopping() && connection.await_request(); ++i)
      if (!router_.serve(connection, i >= kRequestsPerConnection) || here.body_unread) break;
    if (here.body_unread) connection.drain();
    here = {};
  }

  // ---- what holds for every request -----------------------------------------------------------------------

  void rules() {
    router_.set_payload_max_length(options_.max_body);
    router_.set_pre_routing_handler([this](const Request& request, Response& response) {
      response.set_header("X-Content-Type-Options", "nosniff");
      response.set_header("Cache-Control", "no-store");
      response.set_header("Content-Security-Policy",
                          "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; "
                          "script-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'");
      return turn_down(request, response) ? httplib::Server::HandlerResponse::Handled
                                          : httplib::Server::HandlerResponse::Unhandled;
    });
    router_.set_exception_handler([](const Request&, Response& r, const std::exception_ptr&) {
      answer(r, {Status::failed, "the request failed", {}});
    });
    router_.set_logger([](const Request& request, const Response& r) {
      const bool turned_down = r.status == 400 || r.status == 401 || r.status == 403 || r.status == 413;
      if (turned_down && request.method != "GET") serving().body_unread = true;
    });
    router_.set_error_handler([](const Request&, Response& r) {
      if (!r.body.empty()) return;
      refuse(r, r.status,
             r.status == 404   ? "there is nothing here"
             : r.status == 413 ? "the body is too large"
                               : "the request was refused");
    });
  }

  /// Answers those that may not go on; false: the request may.
  bool turn_down(const Request& request, Response& response) const {
    const auto deny = [&](int status, const char* sentence) {
      refuse(response, status, sentence);
      return true;
    };
    const std::string host = request.get_header_value("Host");
    if (!known_host(host, options_.address, options_.hosts))
      return deny(403, "this Host is not served here, see [http] hosts");
    if (!same_origin(request.get_header_value("Origin"), host))
      return deny(403, "requests from pages of another origin are refused");
    if (request.path == "/healthz" || !options_.auth) return false;
    // A page is opened with ?token=…: the token moves into a cookie and out of the address.
    if (request.method == "GET" && request.has_param("token") &&
        same_token(request.get_param_value("token"), options_.token)) {
      response.set_header("Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", kTokenCookie,
                                                    options_.token));
      response.set_redirect(request.path);
      return true;
    }
    if (!has_token(request.get_header_value("Authorization"), request.get_header_value("Cookie"),
                   options_.token)) {
      response.set_header("WWW-Authenticate", "Bearer");
      return deny(401,
                  "a token is needed: Authorization: Bearer TOKEN, or open the address that lensd logged");
    }
    return false;
  }

  // ---- routes ---------------------------------------------------------------------------------------------

  void routes() {
    const auto text = [this](const char* path, const std::string& content, const char* type) {
      router_.Get(path, [content, type](const Request&, Response& r) { r.set_content(content, type); });
    };
    text("/", options_.page, "text/html; charset=utf-8");
    text("/schema.json", options_.schema, "application/schema+json");
    text("/api/v1/filters", options_.filters, kJson);
    router_.Get("/healthz", [this](const Request&, Response& r) {
      const Health health = health_of(target_);
      r.status = health.well ? 200 : 503;
      r.set_content(health.text, kJson);
    });
    router_.Get("/metrics", [this](const Request&, Response& r) {
      r.set_content(options_.metrics(listener_.connections(), listener_.turned_away()),
                    "text/plain; version=0.0.4; charset=utf-8");
    });
    router_.Get("/snapshot\\.(png|jpg)", [this](const Request& q, Response& r) { picture(q, r); });
    router_.Get("/events", [this](const Request& q, Response& r) { events(q, r); });
    router_.Get("/stream\\.mjpeg", [this](const Request&, Response& r) { stream(r); });
    router_.Post("/api/v1", [this](const Request& q, Response& r) { answer(r, commands_.request(q.body)); });
    router_.Get("/api/v1/([a-z-]+)", [this](const Request& q, Response& r) { get_command(q, r); });
    router_.Post("/api/v1/([a-z-]+)",
                 [this](const Request& q, Response& r) { answer(r, commands_.post(q.matches[1], q.body)); });
  }

  void get_command(const Request& request, Response& response) const {
    const std::string name = request.matches[1];
    const CommandSpec* command = find_command(name);
    if (!command || !command->changes) return answer(response, commands_.get(name, request.params));
    response.set_header("Allow", "POST");
    refuse(response, 405, "this command changes something: use POST");
  }

  void picture(const Request& request, Response& response) const {
    const bool png = request.matches[1] == "png";
    try {
      const auto encoded = target_.picture(png ? PictureType::png : PictureType::jpeg, 0);
      if (!encoded) return answer(response, {Status::busy, "there is no frame yet", {}});
      response.set_header("X-Lensd-Frame", std::to_string(encoded->frame.index));
      response.set_content(encoded->bytes.data(), encoded->bytes.size(), png ? "image/png" : "image/jpeg");
    } catch (const Error& e) {
      answer(response, {Status::refused, e.what(), {}});
    }
  }

  // ---- answers that never end -----------------------------------------------------------------------------

  /// Whether the connection that this thread serves has nobody at its other end, or is to end.
  std::function<bool()> gone() const {
    return [this, connection = serving().connection] { return listener_.stopping() || connection->closed(); };
  }

  /// Server-sent events: /events?observe=edges.low&observe=frame, all other events always.
  void events(const Request& request, Response& response) {
    const auto feed = std::make_shared<EventFeed>(hub_);
    const View view = View::of(target_);
    for (size_t i = 0; i < request.get_param_value_count("observe"); ++i) {
      const std::string name = request.get_param_value("observe", i);
      if (!property_value(view, name) || !feed->subscriber().observe(static_cast<int64_t>(i), name))
        return answer(response, no_such_property(name));
    }
    options_.wake();
    response.set_chunked_content_provider(
        "text/event-stream", [feed, gone = gone()](size_t, httplib::DataSink& sink) {
          const auto text = feed->next(gone);
          return text && (text->empty() || sink.write(text->data(), text->size()));
        });
  }

  void stream(Response& response) {
    const auto watcher = std::make_shared<PictureStream::Watcher>(pictures_);
    response.set_content_provider(
        fmt::format("multipart/x-mixed-replace; boundary={}", kBoundary),
        [this, watcher, gone = gone()](size_t, httplib::DataSink& sink) {
          if (gone()) return false;
          const auto jpeg = watcher->next();
          if (!jpeg) return !listener_.stopping();
          const std::string head = fmt::format(
              "--{}\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\nX-Lensd-Frame: {}\r\n\r\n",
              kBoundary, jpeg->bytes.size(), jpeg->frame.index);
          return sink.write(head.data(), head.size()) && sink.write(jpeg->bytes.data(), jpeg->bytes.size()) &&
                 sink.write("\r\n", 2);
        });
  }

  ControlTarget& target_;
  EventHub& hub_;
  const HttpOptions options_;
  PictureStream pictures_;
  HttpListener listener_;
  HttpCommands commands_;
  Router router_;
};

HttpServer::HttpServer(ControlTarget& target, EventHub& hub, HttpOptions options)
    : impl_(std::make_unique<Impl>(target, hub, std::move(options))) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const {
  return impl_->listener().port();
}
const std::string& HttpServer::token() const {
  return impl_->options().token;
}
int HttpServer::connections() const {
  return impl_->listener().connections();
}
uint64_t HttpServer::turned_away() const {
  return impl_->listener().turned_away();
}

std::string HttpServer::url() const {
  const HttpOptions& options = impl_->options();
  const bool six = options.address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/{}", six ? "[" : "", options.address, six ? "]" : "", port(),
                     options.auth ? "?token=" + options.token : "");
}

}  // namespace lensd
