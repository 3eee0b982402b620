// Finds problems of a graph without a source: tries make_plan() with pictures of several sizes.
#include <algorithm>
#include <iterator>

#include "core/base/contains.hpp"
#include "core/base/error.hpp"
#include "core/base/text/text.hpp"
#include "core/graph/plan.hpp"

namespace lensd {
namespace {

/// Returns why make_plan() refuses the graph for an RGB picture of this size, one problem per element.
std::vector<std::string> refusals(const GraphDesc& graph, Extent extent, const Registry& registry) {
  PictureInfo picture;
  picture.extent = extent;
  picture.format = {.model = ColourModel::rgb,
                    .depth = 8,
                    .plane_count = 1,
                    .components = {{{0, 3, 0, 0}, {0, 3, 1, 0}, {0, 3, 2, 0}, {}}}};
  try {
    make_plan(graph, picture, Backend::cpu, registry);
  } catch (const Error& e) {
    if (e.code() == ExitCode::invalid_config) return split(e.what(), "\n");
  }
  return {};
}

/// Returns the problems that occur at all tried picture sizes. They do not depend on the size.
std::vector<std::string> lasting_refusals(const GraphDesc& graph, const Registry& registry) {
  std::vector<std::string> problems = refusals(graph, {1, 1}, registry);
  for (const Extent extent : {Extent{1920, 1080}, Extent{1079, 1919}, Extent{16384, 16384}}) {
    if (problems.empty()) break;
    const std::vector<std::string> others = refusals(graph, extent, registry);
    std::erase_if(problems, [&](const std::string& p) { return !contains(others, p); });
  }
  return problems;
}

}  // namespace

std::vector<std::string> planning_problems(const GraphDesc& graph, const Registry& registry) {
  if (!registry.make_source) return {};
  const GraphDesc whole = resolved(graph, registry);
  std::vector<std::string> problems;
  // Check the parameters of each node alone, because the whole plan omits unused and disabled nodes.
  for (const NodeDesc& node : whole.nodes) {
    if (registry.find(node.filter)->needs_tracks) continue;
    GraphDesc alone{.nodes = {node}, .output = node.id};
    alone.nodes[0].enabled = true;
    alone.nodes[0].inputs.assign(node.inputs.size(), kSourceNode);
    std::ranges::move(lasting_refusals(alone, registry), std::back_inserter(problems));
  }
  for (std::string& problem : lasting_refusals(whole, registry))
    if (!contains(problems, problem)) problems.push_back(std::move(problem));
  return problems;
}

}  // namespace lensd
