#include "core/control/http/http_routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "core/base/error.hpp"
#include "core/control/commands.hpp"
#include "core/control/http/http_access.hpp"
#include "core/graph/json.hpp"

namespace lensd {
namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kHtml = "text/html; charset=utf-8";
constexpr std::string_view kApi = "/api/v1";

/// HTTP status codes in the order of Status.
constexpr int kStatusCodes[] = {200, 400, 404, 422, 503, 500};

HttpResponse to_http(const Response& response) {
  return {kStatusCodes[static_cast<size_t>(response.status)], kJson, response_line(response)};
}

HttpResponse error_response(int status, const char* sentence) {
  return {status, kJson, fmt::format("{{\"error\":\"{}\"}}\n", sentence)};
}

/// The response to a browser that opens the page without the token.
constexpr const char* kTokenPage =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>lensd</title>\n"
    "<h1>lensd: a token is needed</h1>\n"
    "<p>Open the address that lensd logged. It ends in <code>?token=…</code>.</p>\n</html>\n";

/// Returns a handler that always responds with `body`. `body` must outlive the handler.
auto content(const char* type, const std::string& body) {
  return [type, &body](const HttpRequest&) { return HttpResponse{200, type, body}; };
}

/// Parses `text` into `body`. An empty text yields an empty object.
Response parse_body(const std::string& text, Json& body) {
  body = Json::object();
  if (text.empty()) return {};
  Json wrapped;  // parse_request() accepts objects only, but a body may have any type
  if (Response response = parse_request("{\"body\":" + text + "}", wrapped); !response.ok()) return response;
  if (wrapped.size() != 1) return {Status::usage, "the body is not valid JSON"};
  body = std::move(wrapped["body"]);
  return {};
}

/// Returns the values of the query parameters that are named like the command's arguments, in the order of
/// the arguments.
Json arguments_from_query(const CommandSpec& command, const HttpParameters& query) {
  Json args = Json::array();
  for (const CommandArg& arg : command.args) {
    const auto [begin, end] = query.equal_range(arg.name);
    for (auto it = begin; it != end; ++it) args.push_back(it->second);
  }
  return args;
}

/// Converts a body to arguments. The body is an array of arguments, an object with named arguments, or a
/// single argument. An empty object has no arguments.
Response arguments_from_body(const CommandSpec& command, const Json& body, Json& args) {
  if (body.is_object() && !body.empty()) return positional(command, body, args);
  args = body.is_array() ? body : body.is_object() ? Json::array() : Json::array({body});
  return {};
}

/// Server-sent events of one subscriber.
class EventStream final : public HttpStream {
 public:
  explicit EventStream(std::shared_ptr<Subscriber> subscriber) : subscriber_(std::move(subscriber)) {}
  ~EventStream() override { subscriber_->on_event(nullptr); }
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  void on_change(std::function<void()> changed) override { subscriber_->on_event(std::move(changed)); }
  std::string take() override {
    std::string text;
    for (const std::string& event : subscriber_->take(Subscriber::kMaxEvents + 1))
      text += "data: " + event + "\n\n";
    return text;
  }
  std::string heartbeat() override { return ": still here\n\n"; }

 private:
  const std::shared_ptr<Subscriber> subscriber_;
};

}  // namespace

HttpRoutes::HttpRoutes(ControlTarget& target, EventHub& hub, const HttpOptions& options, int port,
                       std::function<std::string()> metrics, std::function<void(Task)> run_blocking)
    : target_(target),
      hub_(hub),
      options_(options),
      cookie_(cookie_name(port)),
      run_blocking_(std::move(run_blocking)),
      pictures_([this](int64_t made_after_ns) { return target_.picture(PictureType::jpeg, made_after_ns); },
                options.stream_fps),
      get_handlers_{
          {"/", content(kHtml, options.page)},
          {"/schema.json", content("application/schema+json", options.schema)},
          {"/api/v1/filters", content(kJson, options.filters)},
          {"/healthz", [this](auto&) { return health(); }},
          {"/metrics",
           [metrics = std::move(metrics)](auto&) {
             return HttpResponse{200, "text/plain; version=0.0.4; charset=utf-8", metrics()};
           }},
          {"/events", [this](const HttpRequest& request) { return events(request); }},
          {"/stream.mjpeg",
           [this](auto&) {
             HttpResponse response{.type = PictureStream::kType};
             response.stream = pictures_.watch();
             return response;
           }},
      } {}

/// Returns the address of `path` without a query, relative to `path`, because a proxy may have removed a
/// prefix. Returns the page's address if `path` is unknown, because a decoded path may contain line breaks or
/// the name of another host.
std::string HttpRoutes::redirect_target(const std::string& path) const {
  if (get_handlers_.contains(path)) return "./" + path.substr(path.rfind('/') + 1);
  std::string page = "./";
  for (auto folders = std::ranges::count(path, '/'); folders > 1; --folders) page += "../";
  return page;
}

std::optional<HttpResponse> HttpRoutes::reject(const HttpRequest& request) const {
  const std::string host = request.header("host");
  if (!known_host(host, options_.address, options_.hosts))
    return error_response(403, "this Host is not served here, see [http] hosts");
  const std::string origin = request.header("origin");
  if (!same_origin(origin, host, options_.hosts) ||
      (origin.empty() &&
       embedded_elsewhere(request.header("sec-fetch-site"), request.header("sec-fetch-dest"))))
    return error_response(403, "requests from pages of another origin are refused");
  if (request.path == "/healthz" || !options_.auth) return std::nullopt;
  // The browser opens the panel with ?token=…: set a cookie and redirect to the URL without its query.
  const auto token = request.query.find("token");
  if (request.method == "GET" && token != request.query.end() && same_token(token->second, options_.token)) {
    HttpResponse redirect{.status = 302};
    // Without Path, the browser sends the cookie only for the folder of this URL. Behind a proxy, this folder
    // may be the proxy's prefix.
    const bool at_top = request.path.find('/', 1) == std::string::npos;
    redirect.headers = {{"Set-Cookie", fmt::format("{}={}{}; HttpOnly; SameSite=Strict", cookie_,
                                                   options_.token, at_top ? "" : "; Path=/")},
                        {"Location", redirect_target(request.path)}};
    return redirect;
  }
  if (has_token(request.header("authorization"), request.header("cookie"), cookie_, options_.token))
    return std::nullopt;
  HttpResponse unauthorized = error_response(
      401, "a token is needed: Authorization: Bearer TOKEN, or open the address that lensd logged");
  if (request.path == "/" && request.header("accept").find("text/html") != std::string::npos)
    unauthorized.type = kHtml, unauthorized.body = kTokenPage;
  unauthorized.headers = {{"WWW-Authenticate", "Bearer"}};
  return unauthorized;
}

void HttpRoutes::respond(const HttpRequest& request, HttpReply reply) {
  const bool post = request.method == "POST";
  if (request.method == "OPTIONS")
    return reply({.status = 204, .headers = {{"Allow", "GET, HEAD, POST, OPTIONS"}}});
  if (!post) {
    const bool png = request.path == "/snapshot.png";
    if (png || request.path == "/snapshot.jpg")
      return run_blocking_([this, png, reply = std::move(reply)] {
        reply(picture(png ? PictureType::png : PictureType::jpeg));
      });
    if (const auto it = get_handlers_.find(request.path); it != get_handlers_.end())
      return reply(it->second(request));
  }
  if (!request.path.starts_with(kApi)) return reply(error(404));
  const std::string rest = request.path.substr(kApi.size());
  if (post && rest.empty()) {
    Json body;
    if (const Response response = parse_body(request.body, body); !response.ok())
      return reply(to_http(response));
    return run(body.is_object() && body.contains("command") ? body["command"] : Json(), std::move(reply));
  }
  const bool named = rest.size() > 1 && rest[0] == '/' &&
                     rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", 1) == std::string::npos;
  named ? command(request, rest.substr(1), std::move(reply)) : reply(error(404));
}

HttpResponse HttpRoutes::error(int status) {
  switch (status) {
    case 404:
      return error_response(status, "there is no such path");
    case 405:
      return error_response(status, "this method is not supported");
    case 408:
      return error_response(status, "the request did not arrive in time");
    case 413:
      return error_response(status, "the body is too large");
    case 414:
      return error_response(status, "the address is too long");
    case 415:
      return error_response(status, "encoded bodies are not supported");
    case 431:
      return error_response(status, "the headers are too large");
    case 500:
      return error_response(status, "the request failed");
    case 503:
      return error_response(status, "there was no reply in time");
    default:
      return error_response(status, "the request was refused");
  }
}

void HttpRoutes::command(const HttpRequest& request, const std::string& name, HttpReply reply) const {
  const CommandSpec* command = find_command(name);
  if (!command) return reply(to_http(no_such_command(name)));
  Json args;
  if (request.method == "POST") {
    Json body;
    if (const Response response = parse_body(request.body, body); !response.ok())
      return reply(to_http(response));
    if (const Response response = arguments_from_body(*command, body, args); !response.ok())
      return reply(to_http(response));
  } else if (command->changes) {
    HttpResponse response = error_response(405, "this command changes the state: use POST");
    response.headers = {{"Allow", "POST"}};
    return reply(std::move(response));
  } else {
    args = arguments_from_query(*command, request.query);
  }
  args.insert(args.begin(), name);
  run(args, std::move(reply));
}

/// Runs [NAME, ARGUMENTS…].
void HttpRoutes::run(const Json& command, HttpReply reply) const {
  run_command(target_, {{"command", command}}, nullptr,
              [reply = std::move(reply)](const Response& response) { reply(to_http(response)); });
}

HttpResponse HttpRoutes::health() const {
  const RunState state = target_.state();
  const bool ok = state.alive && state.source_state != "failed";
  return {ok ? 200 : 503, kJson,
          json_line({{"ok", ok}, {"source", state.source_state}, {"frame", state.frame_index}}) + "\n"};
}

HttpResponse HttpRoutes::picture(PictureType type) const {
  try {
    const auto encoded = target_.picture(type, 0);
    if (!encoded) return to_http({Status::busy, "there is no frame yet"});
    HttpResponse response{.type = type == PictureType::png ? "image/png" : "image/jpeg"};
    response.shared_body = {encoded, &encoded->bytes};
    response.headers = {{"X-Lensd-Frame", std::to_string(encoded->frame.index)}};
    return response;
  } catch (const Error& e) {
    return to_http({e.code() == ExitCode::runtime_failure ? Status::failed : Status::refused, e.what()});
  } catch (const std::exception& e) {  // for example out of memory
    return to_http({Status::failed, e.what()});
  }
}

/// Returns a stream of server-sent events, for example for /events?observe=edges.low&observe=frame. Always
/// sends the events that do not report a property.
HttpResponse HttpRoutes::events(const HttpRequest& request) const {
  const std::shared_ptr<Subscriber> subscriber = hub_.subscribe();
  subscriber->want_events();
  const ControlView view = ControlView::of(target_);
  int64_t id = 0;
  const auto [begin, end] = request.query.equal_range("observe");
  for (auto it = begin; it != end; ++it) {
    if (!has_property(view, it->second)) return to_http(no_such_property(view, it->second));
    if (!subscriber->observe(id++, it->second))
      return to_http({Status::refused, "too many observed properties"});
  }
  options_.wake();
  HttpResponse response{.type = "text/event-stream"};
  response.stream = std::make_shared<EventStream>(subscriber);
  return response;
}

}  // namespace lensd
