// Graph text of --graph: parse; write as chain, JSON and TOML, and read back; plan.
#include <cstdint>

#include "core/base/error.hpp"
#include "core/config/config.hpp"
#include "core/config/toml_text.hpp"
#include "core/graph/json.hpp"
#include "core/graph/plan.hpp"
#include "kernels/registry.hpp"
#include "tests/fuzz/common/require.hpp"

namespace lensd {
namespace {

using fuzz::require;

PictureInfo rgb_picture(Extent extent) {
  PictureInfo info;
  info.extent = extent;
  info.format = {.model = ColourModel::rgb,
                 .depth = 8,
                 .plane_count = 1,
                 .components = {{{0, 3, 0, 0}, {0, 3, 1, 0}, {0, 3, 2, 0}, {}}}};
  return info;
}

void check_round_trips(const GraphDesc& graph) {
  const std::string chain = to_chain(graph);
  require(equivalent(parse_chain(chain, registry()), graph, registry()), "'{}' reads back differently",
          chain);
  const std::string json = json_line(graph_json(graph, registry()));
  const GraphDesc from_json = graph_from_json(nlohmann::json::parse(json), registry());
  require(equivalent(from_json, graph, registry()), "{} reads back differently", json);
  Config config;
  const std::string toml = toml_graph(graph, registry());
  const auto problems = parse_config(toml, "toml", registry(), config);
  require(problems.empty(), "{} in\n{}", problems.empty() ? "" : problems.front(), toml);
  require(config.graph && equivalent(*config.graph, graph, registry()), "reads back differently:\n{}", toml);
}

void check_plan(const GraphDesc& graph, Extent extent) {
  std::unique_ptr<Plan> plan;
  try {
    plan = make_plan(graph, rgb_picture(extent), Backend::cpu, registry());
  } catch (const Error& e) {
    return require(e.code() == ExitCode::invalid_config, "planning fails with '{}'", e.what());
  }
  const Extent out = plan->output.extent;
  require(out.width >= 1 && out.height >= 1 && out.width <= kMaxSide && out.height <= kMaxSide,
          "the output has {}×{} pixels", out.width, out.height);
  require(plan->arena_bytes <= plan->unshared_bytes, "sharing takes more memory: {} instead of {}",
          plan->arena_bytes, plan->unshared_bytes);
}

}  // namespace
}  // namespace lensd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lensd;
  GraphDesc graph;
  try {
    graph = parse_chain(std::string(reinterpret_cast<const char*>(data), size), registry());
  } catch (const Error& e) {
    require(e.code() == ExitCode::invalid_config, "refused with '{}'", e.what());
    return 0;
  }
  require(validate(graph, registry()).empty(), "the parser gives an invalid graph");
  check_round_trips(graph);
  for (const Extent extent : {Extent{1, 1}, {16384, 16384}, {640, 480}}) check_plan(graph, extent);
  return 0;
}
