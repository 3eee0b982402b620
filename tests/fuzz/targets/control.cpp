// Control JSON: lines to the real socket server, and its responses.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>

#include "core/base/log.hpp"
#include "core/base/text/text.hpp"
#include "core/control/commands.hpp"
#include "core/control/socket/control_client.hpp"
#include "core/control/socket/socket_server.hpp"
#include "tests/fuzz/common/require.hpp"
#include "tests/fuzz/common/target.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

using fuzz::require;
constexpr int kTimeoutMs = 5000;

/// Sends the bytes and closes the sending side. Returns the server's responses, without events.
std::vector<Json> responses(ControlClient& client, std::string bytes) {
  if (!bytes.empty()) {
    bytes.pop_back();  // ControlClient::send() adds the last line's end
    client.send(bytes);
  }
  shutdown(client.fd(), SHUT_WR);
  std::vector<Json> lines;
  while (const auto line = client.receive(kTimeoutMs)) {
    Json json = Json::parse(*line, nullptr, false);
    require(json.is_object(), "not a JSON object: {}", *line);
    if (!json.contains("event")) lines.push_back(std::move(json));
  }
  require(client.closed(), "the connection stays open");
  return lines;
}

/// Checks that each request gets one response with its id, in order.
void check(const std::string& bytes, const std::vector<Json>& lines) {
  size_t at = 0;
  for (const std::string& line : split(bytes, "\n")) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    require(at < lines.size(), "no response to {}", line);
    const Json& response = lines[at++];
    require(response.contains("error") && response["error"].is_string(), "no error in {}", response.dump());
    Json request;
    const bool parsed = parse_request(line, request).ok();
    require(parsed || response["error"] != "success", "success for {}", line);
    const Json id = parsed ? request.value("request_id", Json()) : Json();
    require(response.value("request_id", Json()) == id, "another id: {} for {}", response.dump(), line);
  }
  require(at == lines.size(), "{} responses to {} requests", lines.size(), at);
}

}  // namespace
}  // namespace lensd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lensd;
  static const TemporaryFolder folder;
  log::set_level("off");
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!bytes.empty() && bytes.back() != '\n') bytes += '\n';
  fuzz::Target target;
  EventHub hub;
  {
    SocketServer server(target, hub, {.path = folder / "socket"});
    ControlClient client(folder / "socket");
    check(bytes, responses(client, bytes));
  }
  require(validate(target.graph().graph, registry()).empty(), "the requests made the graph invalid");
  return 0;
}
