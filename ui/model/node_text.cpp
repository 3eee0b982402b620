#include "ui/model/node_text.hpp"

#include <map>

#include "core/base/error.hpp"
#include "core/config/config.hpp"
#include "core/config/save.hpp"
#include "core/graph/edit_shape.hpp"

namespace lensd::ui {
namespace {

constexpr size_t kMaxPasted = 1 << 16;  ///< bytes; longer text is refused

GraphDesc parse(const std::string& text, const Registry& registry) {
  if (text.empty() || text.size() > kMaxPasted)
    throw Error(ExitCode::invalid_config, "clipboard", "contains no node");
  if (text.find("[[node]]") == std::string::npos) return parse_chain(text, registry, "clipboard");
  Config config;
  const std::vector<std::string> problems = parse_config(text, "clipboard", registry, config);
  if (!problems.empty()) throw Error(ExitCode::invalid_config, "clipboard", problems.front());
  if (!config.graph) throw Error(ExitCode::invalid_config, "clipboard", "contains no node");
  return *config.graph;
}

}  // namespace

std::string node_text(const GraphDesc& graph, const std::string& id, const Registry& registry) {
  const NodeDesc* node = graph.find(id);
  if (!node) return {};
  NodeDesc alone = *node;
  alone.inputs.assign(alone.inputs.size(), kSourceNode);
  GraphDesc one;
  one.nodes.push_back(std::move(alone)), one.output = id;
  return graph_text(resolved(one, registry), "", "clipboard", registry);
}

GraphDesc with_pasted(const GraphDesc& graph, const std::string& text, const std::string& after,
                      const Registry& registry, std::string& first) {
  const GraphDesc pasted = resolved(parse(text, registry), registry);
  if (pasted.nodes.empty()) throw Error(ExitCode::invalid_config, "clipboard", "contains no node");
  GraphDesc next = graph;
  std::map<std::string, std::string> ids;  // new ids, by id in the text
  std::string below = after;
  first.clear();
  for (const NodeDesc& node : pasted.nodes) {
    const std::string id = add_node(next, *registry.find(node.filter), below);
    NodeDesc& added = *next.find(id);
    added.params = node.params, added.enabled = node.enabled;
    below = id;
    if (!next.find(node.id)) rename_node(next, id, node.id), below = node.id;
    ids[node.id] = below;
    if (first.empty()) first = below;
  }
  // The nodes above were added as a chain. Connect the readers of the last node to the pasted graph's output.
  ids[kSourceNode] = after;
  redirect_readers(next, below, ids.at(pasted.output));
  ids[kSourceNode] = kSourceNode;
  for (const NodeDesc& node : pasted.nodes) {
    std::vector<std::string>& inputs = next.find(ids.at(node.id))->inputs;
    inputs.clear();
    for (const std::string& input : node.inputs) inputs.push_back(ids.at(input));
    if (node.inputs.front() == kSourceNode) inputs.front() = after;
  }
  return next;
}

}  // namespace lensd::ui
