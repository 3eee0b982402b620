#include "core/control/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/control/commands.hpp"
#include "core/control/http_access.hpp"
#include "core/control/http_connection.hpp"

namespace lensd {
namespace {

using httplib::Request;
using httplib::Response;

constexpr const char* kBoundary = "lensd-frame";
/// How long an answer that comes later is waited for.
constexpr auto kAnswerPatience = std::chrono::seconds(40);
constexpr int kRequestsPerConnection = 1000;

int status_of(Fault fault) {
  switch (fault) {
    case Fault::none:
      return 200;
    case Fault::usage:
      return 400;
    case Fault::not_found:
      return 404;
    case Fault::refused:
      return 422;
    case Fault::busy:
      return 503;
    case Fault::failed:
      return 500;
  }
  return 500;
}

void answer(Response& response, const Answer& given) {
  response.status = status_of(given.fault);
  response.set_content(answer_text(given, nullptr) + "\n", "application/json");
}

int bind_to(const std::string& address, int port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC, hints.ai_socktype = SOCK_STREAM, hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const std::string name = address == "localhost" ? "127.0.0.1" : address, service = std::to_string(port);
  const auto fail = [&](const std::string& reason) {
    return Error(ExitCode::runtime_failure, fmt::format("http {}:{}", address, port), reason,
                 "choose another [http] address or port");
  };
  if (const int error = getaddrinfo(name.c_str(), service.c_str(), &hints, &found); error != 0)
    throw fail(gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 64) != 0) {
    const std::string reason = std::strerror(errno);
    if (fd >= 0) close(fd);
    throw fail(reason);
  }
  return fd;
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Target& target, EventHub& hub, HttpOptions options)
      : target_(target), hub_(hub), options_(std::move(options)) {
    if (!options_.auth && !is_loopback(options_.address))
      throw Error(ExitCode::usage, "[http]", "auth = false is for loopback addresses only",
                  "listen on 127.0.0.1, or keep the token");
    if (options_.auth && options_.token.empty()) options_.token = make_token();
    listen_ = bind_to(options_.address, options_.port);
    router_.listening_on(listen_);
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    getsockname(listen_, reinterpret_cast<sockaddr*>(&bound), &size);
    port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                              : reinterpret_cast<sockaddr_in&>(bound).sin_port);
    stop_event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    routes();
    accepting_ = std::thread([this] { accept_loop(); });
    streaming_ = std::thread([this] { stream_loop(); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      for (const auto& [id, connection] : open_) connection->cut();
    }
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = write(stop_event_, &one, sizeof one);
    changed_.notify_all();
    accepting_.join();
    streaming_.join();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return threads_ == 0; });
    close(listen_);
    close(stop_event_);
  }

  int port() const { return port_; }
  const HttpOptions& options() const { return options_; }
  int connections() const {
    const std::lock_guard lock(mutex_);
    return threads_;
  }
  uint64_t turned_away() const { return turned_away_; }

 private:
  // ---- connections ----------------------------------------------------------------------------------------

  void accept_loop() {
    while (!stopping_) {
      pollfd waiting[2] = {{listen_, POLLIN, 0}, {stop_event_, POLLIN, 0}};
      poll(waiting, 2, -1);
      const int fd = accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) {
        // Out of descriptors: the connection stays in the queue until one is free.
        if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        continue;
      }
      const int yes = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      if (!start_thread(fd)) {
        ++turned_away_;
        constexpr std::string_view text =
            "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        [[maybe_unused]] const ssize_t ignored =
            send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        close(fd);
      }
    }
  }

  bool start_thread(int fd) {
    const std::lock_guard lock(mutex_);
    if (stopping_ || threads_ >= options_.max_connections) return false;
    ++threads_;
    const uint64_t id = next_id_++;
    const auto connection = std::make_shared<Connection>(fd, options_.head_ns, options_.write_ns);
    open_.emplace(id, connection);
    std::thread([this, fd, id, connection] {
      serve(*connection);
      const std::lock_guard done(mutex_);
      open_.erase(id);
      close(fd);
      --threads_;
      changed_.notify_all();
    }).detach();  // waited for by number: ~Impl
    return true;
  }

  void serve(Connection& connection) {
    current() = &connection;
    body_unread() = false;
    for (int i = 1; !stopping_ && connection.await_request(); ++i)
      if (!router_.serve(connection, i >= kRequestsPerConnection) || body_unread()) break;
    if (body_unread()) connection.drain();
  }

  /// The request was turned down before its body was read: the connection cannot go on.
  static bool& body_unread() {
    static thread_local bool unread = false;
    return unread;
  }

  static Connection*& current() {
    static thread_local Connection* connection = nullptr;
    return connection;
  }

  // ---- who may ask ----------------------------------------------------------------------------------------

  bool known_host(const std::string& host) const {
    const std::string name = host_name(host);
    // An address cannot be made to point here by somebody else's name server, as names can.
    unsigned char bytes[16];
    const bool literal =
        inet_pton(AF_INET, name.c_str(), bytes) == 1 || inet_pton(AF_INET6, name.c_str(), bytes) == 1;
    return literal || name == "localhost" || name == options_.address ||
           std::find(options_.hosts.begin(), options_.hosts.end(), name) != options_.hosts.end();
  }

  bool authorised(const Request& request) const {
    if (!options_.auth) return true;
    const std::string bearer = request.get_header_value("Authorization");
    if (bearer.starts_with("Bearer ") && same_token(bearer.substr(7), options_.token)) return true;
    return same_token(cookie_token(request.get_header_value("Cookie")), options_.token);
  }

  /// Answers those that may not go on; false: the request may.
  bool turn_down(const Request& request, Response& response) const {
    const auto deny = [&](int status, const char* sentence) {
      response.status = status;
      response.set_content(fmt::format("{{\"error\":\"{}\"}}\n", sentence), "application/json");
      return true;
    };
    const std::string host = request.get_header_value("Host");
    if (!known_host(host)) return deny(403, "this Host is not served here, see [http] hosts");
    const std::string origin = request.get_header_value("Origin");
    if (!origin.empty() && origin != "http://" + host && origin != "https://" + host)
      return deny(403, "requests from pages of another origin are refused");
    if (request.path == "/healthz") return false;
    // A page is opened with ?token=…: the token moves into a cookie and out of the address.
    if (options_.auth && request.method == "GET" && request.has_param("token") &&
        same_token(request.get_param_value("token"), options_.token)) {
      response.set_header("Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", kTokenCookie,
                                                    options_.token));
      response.set_redirect(request.path);
      return true;
    }
    if (!authorised(request)) {
      response.set_header("WWW-Authenticate", "Bearer");
      return deny(401,
                  "a token is needed: Authorization: Bearer TOKEN, or open the address that lensd logged");
    }
    return false;
  }

  // ---- routes ---------------------------------------------------------------------------------------------

  void routes() {
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
      answer(r, {Fault::failed, "the request failed", {}});
    });
    router_.set_logger([](const Request& request, const Response& r) {
      const bool turned_down = r.status == 400 || r.status == 401 || r.status == 403 || r.status == 413;
      body_unread() = body_unread() || (turned_down && request.method != "GET");
    });
    router_.set_error_handler([](const Request&, Response& response) {
      if (response.body.empty())
        response.set_content(
            fmt::format("{{\"error\":\"{}\"}}\n", response.status == 404   ? "there is nothing here"
                                                  : response.status == 413 ? "the body is too large"
                                                                           : "the request was refused"),
            "application/json");
    });
    const auto text = [this](const char* path, const std::string& content, const char* type) {
      router_.Get(path, [content, type](const Request&, Response& r) { r.set_content(content, type); });
    };
    text("/", options_.page, "text/html; charset=utf-8");
    text("/schema.json", options_.schema, "application/schema+json");
    text("/api/v1/filters", options_.filters, "application/json");
    router_.Get("/healthz", [this](const Request&, Response& r) { health(r); });
    router_.Get("/metrics", [this](const Request&, Response& r) {
      r.set_content(options_.metrics(connections(), turned_away()),
                    "text/plain; version=0.0.4; charset=utf-8");
    });
    router_.Get("/snapshot\\.(png|jpg)", [this](const Request& q, Response& r) { picture(q, r); });
    router_.Get("/events", [this](const Request& q, Response& r) { events(q, r); });
    router_.Get("/stream\\.mjpeg", [this](const Request&, Response& r) { stream(r); });
    router_.Post("/api/v1", [this](const Request& q, Response& r) { request(q, r); });
    router_.Get("/api/v1/([a-z-]+)", [this](const Request& q, Response& r) { get_command(q, r); });
    router_.Post("/api/v1/([a-z-]+)", [this](const Request& q, Response& r) { post_command(q, r); });
  }

  void health(Response& response) const {
    const RunState state = target_.state();
    const bool well = state.alive && state.source_state != "failed";
    response.status = well ? 200 : 503;
    response.set_content(
        Json{{"ok", well}, {"source", state.source_state}, {"frame", state.frame}}.dump() + "\n",
        "application/json");
  }

  void run(const Json& command, Response& response) {
    const auto promise = std::make_shared<std::promise<Answer>>();
    std::future<Answer> future = promise->get_future();
    run_command(target_, {{"command", command}}, nullptr,
                [promise](Answer given) { promise->set_value(std::move(given)); });
    const auto deadline = std::chrono::steady_clock::now() + kAnswerPatience;
    while (future.wait_for(std::chrono::milliseconds(200)) != std::future_status::ready)
      if (stopping_ || std::chrono::steady_clock::now() > deadline)
        return answer(response, {Fault::busy, "there was no answer in time", {}});
    answer(response, future.get());
  }

  static bool parse_body(const Request& request, Json& body, Response& response) {
    body = Json::object();
    if (request.body.empty()) return true;
    Json wrapped;
    std::string problem;
    // Wrapped, since a body may be an array while requests are objects.
    if (!parse_request("{\"body\":" + request.body + "}", wrapped, problem) || wrapped.size() != 1) {
      answer(response, {Fault::usage, problem.empty() ? "the body is not valid JSON" : problem, {}});
      return false;
    }
    body = std::move(wrapped["body"]);
    return true;
  }

  /// POST /api/v1 with {"command": […]}, as on the socket.
  void request(const Request& given, Response& response) {
    Json body;
    if (!parse_body(given, body, response)) return;
    if (!body.is_object() || !body.contains("command"))
      return answer(response, {Fault::usage, "expected {\"command\": [NAME, ARGUMENTS…]}", {}});
    run(body["command"], response);
  }

  void get_command(const Request& given, Response& response) {
    const std::string name = given.matches[1];
    const CommandSpec* command = find_command(name);
    if (!command)
      return answer(response, {Fault::not_found, fmt::format("there is no command '{}'", name), {}});
    if (command->changes) {
      response.set_header("Allow", "POST");
      response.status = 405;
      return response.set_content("{\"error\":\"this command changes something: use POST\"}\n",
                                  "application/json");
    }
    Json call{name};
    for (const CommandArg& arg : command->args)
      for (size_t i = 0; i < given.get_param_value_count(arg.name); ++i)
        call.push_back(given.get_param_value(arg.name, i));
    run(call, response);
  }

  /// The body is an array of arguments, or an object with them by name.
  void post_command(const Request& given, Response& response) {
    const std::string name = given.matches[1];
    const CommandSpec* command = find_command(name);
    if (!command)
      return answer(response, {Fault::not_found, fmt::format("there is no command '{}'", name), {}});
    Json body;
    if (!parse_body(given, body, response)) return;
    Json args = body.is_array() ? body : body.is_object() ? positional(*command, body) : Json::array({body});
    if (body.is_object() && body.empty()) args = Json::array();
    Json call{name};
    for (Json& arg : args) call.push_back(std::move(arg));
    run(call, response);
  }

  void picture(const Request& request, Response& response) {
    const bool png = request.matches[1] == "png";
    try {
      const auto encoded = target_.picture(png ? PictureType::png : PictureType::jpeg, 0);
      if (!encoded) return answer(response, {Fault::busy, "there is no frame yet", {}});
      response.set_header("X-Lensd-Frame", std::to_string(encoded->frame.index));
      response.set_content(encoded->bytes.data(), encoded->bytes.size(), png ? "image/png" : "image/jpeg");
    } catch (const Error& e) {
      answer(response, {Fault::refused, e.what(), {}});
    }
  }

  // ---- events ---------------------------------------------------------------------------------------------

  /// Server-sent events: /events?observe=edges.low&observe=frame, all other events always.
  void events(const Request& request, Response& response) {
    struct Feed {
      std::mutex mutex;
      std::condition_variable news;
      bool any = false;
      std::shared_ptr<Subscriber> subscriber;
    };
    const auto feed = std::make_shared<Feed>();
    const std::weak_ptr<Feed> weak = feed;
    feed->subscriber = hub_.subscribe([weak] {
      const auto alive = weak.lock();
      if (!alive) return;
      {
        const std::lock_guard lock(alive->mutex);
        alive->any = true;
      }
      alive->news.notify_one();
    });
    feed->subscriber->want_events();
    const View view = View::of(target_);
    for (size_t i = 0; i < request.get_param_value_count("observe"); ++i) {
      const std::string name = request.get_param_value("observe", i);
      if (!property_value(view, name) || !feed->subscriber->observe(static_cast<int64_t>(i), name))
        return answer(response, {Fault::not_found, fmt::format("there is no property '{}'", name), {}});
    }
    options_.wake();
    const Connection* connection = current();
    response.set_chunked_content_provider(
        "text/event-stream", [this, feed, connection](size_t, httplib::DataSink& sink) {
          bool any = false;
          {
            std::unique_lock lock(feed->mutex);
            // A comment now and then finds out whether the client is still there.
            for (int i = 0; i < 50 && !feed->any && !stopping_ && !connection->closed(); ++i)
              feed->news.wait_for(lock, std::chrono::milliseconds(100), [&] { return feed->any; });
            any = std::exchange(feed->any, false);
          }
          if (stopping_ || connection->closed()) return false;
          std::string text = any ? "" : ": still here\n\n";
          for (const std::string& event : feed->subscriber->take(Subscriber::kMaxEvents + 1))
            text += "data: " + event + "\n\n";
          return text.empty() || sink.write(text.data(), text.size());
        });
  }

  // ---- the stream -----------------------------------------------------------------------------------------

  /// Encodes the newest frame, once for all who watch, as often as stream_fps allows.
  void stream_loop() {
    int64_t made_ns = 0;
    while (!stopping_) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopping_ || watchers_ > 0; });
        if (stopping_) return;
      }
      const int64_t begin = now_ns();
      try {
        if (auto encoded = target_.picture(PictureType::jpeg, have_picture() ? made_ns : 0)) {
          made_ns = encoded->frame.processed_ns;
          const std::lock_guard lock(mutex_);
          jpeg_ = std::move(encoded), ++jpeg_number_;
          changed_.notify_all();
        }
      } catch (const Error& e) {
        log::warn("stream: {}", e.what());
        std::this_thread::sleep_for(std::chrono::seconds(1));
      }
      const int64_t pause = 1'000'000'000 / options_.stream_fps - (now_ns() - begin);
      std::unique_lock lock(mutex_);
      // Never all of a processor, however slow the encoder.
      changed_.wait_for(lock, std::chrono::nanoseconds(std::max<int64_t>(pause, 5'000'000)),
                        [this] { return stopping_.load(); });
    }
  }

  bool have_picture() const {
    const std::lock_guard lock(mutex_);
    return jpeg_ != nullptr;
  }

  /// While it lives, frames are encoded.
  class Watcher {
   public:
    explicit Watcher(Impl& impl) : impl_(impl) {
      {
        const std::lock_guard lock(impl_.mutex_);
        ++impl_.watchers_;
      }
      impl_.changed_.notify_all();
    }
    ~Watcher() {
      const std::lock_guard lock(impl_.mutex_);
      if (--impl_.watchers_ == 0) impl_.jpeg_.reset();
    }
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    /// The newest picture if it is another one than before.
    std::shared_ptr<const EncodedPicture> next() {
      std::unique_lock lock(impl_.mutex_);
      impl_.changed_.wait_for(lock, std::chrono::milliseconds(500), [this] {
        return impl_.stopping_ || (impl_.jpeg_ && impl_.jpeg_number_ != seen_);
      });
      if (impl_.stopping_ || !impl_.jpeg_ || impl_.jpeg_number_ == seen_) return nullptr;
      seen_ = impl_.jpeg_number_;
      return impl_.jpeg_;
    }

   private:
    Impl& impl_;
    uint64_t seen_ = 0;
  };

  void stream(Response& response) {
    const auto watcher = std::make_shared<Watcher>(*this);
    const Connection* connection = current();
    response.set_content_provider(
        fmt::format("multipart/x-mixed-replace; boundary={}", kBoundary).c_str(),
        [this, watcher, connection](size_t, httplib::DataSink& sink) {
          if (stopping_ || connection->closed()) return false;
          const auto jpeg = watcher->next();
          if (!jpeg) return !stopping_.load();
          const std::string head = fmt::format(
              "--{}\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\nX-Lensd-Frame: {}\r\n\r\n",
              kBoundary, jpeg->bytes.size(), jpeg->frame.index);
          return sink.write(head.data(), head.size()) && sink.write(jpeg->bytes.data(), jpeg->bytes.size()) &&
                 sink.write("\r\n", 2);
        });
  }

  Target& target_;
  EventHub& hub_;
  HttpOptions options_;
  Router router_;
  int listen_ = -1, stop_event_ = -1, port_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, std::shared_ptr<Connection>> open_;
  uint64_t next_id_ = 1, jpeg_number_ = 0;
  int threads_ = 0, watchers_ = 0;
  std::shared_ptr<const EncodedPicture> jpeg_;
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> turned_away_{0};
  std::thread accepting_, streaming_;
};

HttpServer::HttpServer(Target& target, EventHub& hub, HttpOptions options)
    : impl_(std::make_unique<Impl>(target, hub, std::move(options))) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const {
  return impl_->port();
}
const std::string& HttpServer::token() const {
  return impl_->options().token;
}
int HttpServer::connections() const {
  return impl_->connections();
}
uint64_t HttpServer::turned_away() const {
  return impl_->turned_away();
}

std::string HttpServer::url() const {
  const HttpOptions& options = impl_->options();
  const bool six = options.address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/{}", six ? "[" : "", options.address, six ? "]" : "", port(),
                     options.auth ? "?token=" + options.token : "");
}

}  // namespace lensd
