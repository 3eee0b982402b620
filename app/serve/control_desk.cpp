#include "app/serve/control_desk.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/config/schema.hpp"
#include "core/control/metrics.hpp"
#include "core/control/socket/control_socket.hpp"
#include "core/graph/catalogue.hpp"
#include "ui/embedded.hpp"

namespace lensd {
namespace {

/// "8080", "0.0.0.0:8080" or "[::1]:8080".
void parse_address(const std::string& text, HttpOptions& options) {
  const size_t colon = text.rfind(':');
  const std::string port = text.substr(colon == std::string::npos ? 0 : colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
  if (error != std::errc() || end != port.data() + port.size() || options.port < 0 || options.port > 65535)
    throw Error(ExitCode::usage, "--http", fmt::format("'{}' is not of the form [ADDRESS:]PORT", text));
  if (colon == std::string::npos) return;
  options.address = text.substr(0, colon);
  if (options.address.starts_with('[') && options.address.ends_with(']'))
    options.address = options.address.substr(1, options.address.size() - 2);
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : text + ",") {
    if (c != ',' && c != ' ')
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty())
      names.push_back(std::exchange(name, {}));
  }
  return names;
}

std::string read_token(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  std::getline(file, token);
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back()))) token.pop_back();
  if (token.size() < 8)
    throw Error(ExitCode::invalid_config, path, "holds no token of 8 characters or more",
                "check [http] token_file");
  return token;
}

HttpOptions http_options(const CommandLine& line) {
  const Config& config = line.config;
  HttpOptions options;
  options.address = config.http_address.value_or(options.address);
  options.port = config.http_port.value_or(0);
  if (!line.http.empty()) parse_address(line.http, options);
  options.hosts = names_in(config.http_hosts.value_or(""));
  options.auth = config.http_auth.value_or(true);
  options.token = config.http_token.value_or("");
  if (!options.token.empty() && options.token.size() < 8)
    throw Error(ExitCode::invalid_config, "[http] token", "is shorter than 8 characters");
  if (options.token.empty() && config.http_token_file && !config.http_token_file->empty())
    options.token = read_token(*config.http_token_file);
  options.max_connections = config.http_connections.value_or(options.max_connections);
  options.stream_fps = config.http_stream_fps.value_or(options.stream_fps);
  return options;
}

/// Descriptors that are left to lensd itself: sources that come back, recordings, libraries, the GPU.
constexpr rlim_t kOwnDescriptors = 40;

/// Clients must not take the descriptors that the video needs.
void keep_within_descriptors(ControlDeskOptions& options) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  // The soft limit is low for the sake of select(), which nothing here uses.
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, std::max<rlim_t>(limit.rlim_cur, 4096));
  setrlimit(RLIMIT_NOFILE, &limit);
  const auto room = static_cast<int>(std::max<rlim_t>(limit.rlim_cur, kOwnDescriptors + 8) - kOwnDescriptors);
  int& clients = options.socket.max_clients;
  int none = 0, &connections = options.http ? options.http->max_connections : none;
  if (clients + connections <= room) return;
  const int share = options.http ? std::max(4, room * connections / (clients + connections)) : 0;
  connections = share;
  clients = std::max(4, room - share);
  log::warn("the limit of {} descriptors leaves room for {} clients of the socket and {} of HTTP",
            limit.rlim_cur, clients, connections);
}

}  // namespace

ControlDeskOptions desk_options(const CommandLine& line, bool listen_by_default) {
  ControlDeskOptions options;
  std::string path = line.socket.empty() ? line.config.control_socket.value_or("") : line.socket;
  if (path.empty() && listen_by_default) path = default_socket_path();
  options.socket.path = path == "off" || path == "no" ? "" : path;
  options.socket.max_clients = line.config.control_clients.value_or(options.socket.max_clients);
  if (!line.http.empty() || line.config.http_port.value_or(0) > 0) options.http = http_options(line);
  keep_within_descriptors(options);
  return options;
}

ControlDesk::ControlDesk(Session& session, const ControlDeskOptions& options)
    : session_(session),
      server_(std::make_unique<SocketServer>(session, session.hub(), options.socket,
                                             [&session] { session.pump(); })) {
  if (options.http) start_http(*options.http);
  session_.on_change([this] { server_->wake(); });
  if (!options.socket.path.empty()) log::info("control socket {}", options.socket.path);
}

ControlDesk::~ControlDesk() {
  session_.on_change({});
  http_.reset();
}

void ControlDesk::start_http(HttpOptions options) {
  const auto page = ui::embedded("panel.html");
  options.page.assign(page.begin(), page.end());
  options.schema = config_schema(session_.registry());
  std::vector<const FilterEntry*> entries;
  for (const FilterEntry& entry : session_.registry().filters) entries.push_back(&entry);
  options.filters = filters_json(entries);
  options.metrics = [this](int connections, uint64_t turned_away) {
    return metrics(connections, turned_away);
  };
  options.wake = [this] { server_->wake(); };
  const bool fresh = options.auth && options.token.empty();
  http_ = std::make_unique<HttpServer>(session_, session_.hub(), std::move(options));
  // A token that was chosen stays out of the log; one that was made can be learnt nowhere else.
  if (fresh)
    fmt::print(stderr, "lensd: open {}\n", http_->url());
  else
    log::info("HTTP on port {}", http_->port());
}

std::string ControlDesk::metrics(int connections, uint64_t turned_away) const {
  ServerCounts counts;
  counts.socket_clients = server_->clients(), counts.cut_off = server_->cut_off();
  counts.http_connections = connections, counts.turned_away = turned_away;
  counts.events_dropped = session_.hub().dropped();
  return metrics_text(session_, counts);
}

}  // namespace lensd
