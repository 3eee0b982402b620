#include "app/serve/control_servers.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "app/config_checks.hpp"
#include "core/base/log.hpp"
#include "core/base/text/text.hpp"
#include "core/config/schema.hpp"
#include "core/control/metrics.hpp"
#include "core/control/socket/control_socket.hpp"
#include "core/graph/catalogue.hpp"
#include "ui/embedded.hpp"

namespace lensd {
namespace {

HttpOptions http_options(const Config& config) {
  HttpOptions options;
  options.address = config.http_address;
  options.port = config.http_port;
  options.hosts = split(lower_case(config.http_hosts), ", ");
  options.auth = config.http_auth;
  options.token = config.http_token;
  if (options.token.empty() && !config.http_token_file.empty())
    options.token = read_token(config.http_token_file);
  options.max_connections = config.http_connections;
  options.stream_fps = config.http_stream_fps;
  return options;
}

/// Descriptors reserved for sources, recordings, libraries and the GPU.
constexpr rlim_t kReservedDescriptors = 40;

/// Raises the limit of open descriptors to 4096 if possible. Then lowers the limits of clients so that
/// kReservedDescriptors stay free.
void limit_clients(ControlOptions& options) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  // The soft limit is low by default, because select() fails above 1024 descriptors. lensd does not use
  // select().
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, std::max<rlim_t>(limit.rlim_cur, 4096));
  setrlimit(RLIMIT_NOFILE, &limit);
  const auto room =
      static_cast<int>(std::max<rlim_t>(limit.rlim_cur, kReservedDescriptors + 8) - kReservedDescriptors);
  int& clients = options.socket.max_clients;
  int none = 0, &connections = options.http ? options.http->max_connections : none;
  if (clients + connections <= room) return;
  if (options.http) connections = std::max(4, room * connections / (clients + connections));
  clients = std::max(4, room - connections);
  log::warn("the limit of {} descriptors leaves room for {} clients of the socket and {} of HTTP",
            limit.rlim_cur, clients, connections);
}

}  // namespace

ControlOptions control_options(const CommandLine& line, bool listen_by_default) {
  ControlOptions options;
  const Config& config = line.config;
  std::string path = config.control_socket;
  if (path.empty() && listen_by_default) path = default_socket_path();
  options.socket.path = path == "off" || path == "no" ? "" : path;
  options.socket.max_clients = config.control_clients;
  // Port 0 disables HTTP in files and environment variables, but selects any free port after --http.
  if (config.http_port > 0 || line.layers.command_line.has("http.port")) options.http = http_options(config);
  limit_clients(options);
  return options;
}

ControlServers::ControlServers(Session& session, const ControlOptions& options)
    : session_(session),
      socket_(std::make_unique<SocketServer>(session, session.hub(), options.socket,
                                             [&session] { session.pump(); })) {
  if (options.http) start_http(*options.http);
  session_.on_change([this] { socket_->wake(); });
  if (!options.socket.path.empty()) log::info("control socket {}", options.socket.path);
}

ControlServers::~ControlServers() {
  session_.on_change({});
  http_.reset();
}

void ControlServers::start_http(HttpOptions options) {
  const auto page = ui::embedded("panel.html");
  options.page.assign(page.begin(), page.end());
  options.schema = config_schema(session_.registry());
  std::vector<const FilterEntry*> entries;
  for (const FilterEntry& entry : session_.registry().filters) entries.push_back(&entry);
  options.filters = filters_json(entries);
  options.metrics = [this](int connections, uint64_t refused) {
    return metrics_text(session_, {.socket_clients = socket_->clients(),
                                   .http_connections = connections,
                                   .socket_disconnected = socket_->disconnected(),
                                   .http_refused = refused,
                                   .events_dropped = session_.hub().dropped()});
  };
  options.wake = [this] { socket_->wake(); };
  const bool random_token = options.auth && options.token.empty();
  http_ = std::make_unique<HttpServer>(session_, session_.hub(), std::move(options));
  // Print a random token, because it is stored nowhere else. Keep a configured token out of the log.
  if (random_token)
    log::print(fmt::format("lensd: open {}\n", http_->url()));
  else
    log::info("HTTP on port {}", http_->port());
}

}  // namespace lensd
