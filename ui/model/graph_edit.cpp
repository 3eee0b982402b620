#include "ui/model/graph_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lensd::ui {
namespace {

size_t index_of(const GraphDesc& graph, const std::string& id) {
  const auto it =
      std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const NodeDesc& n) { return n.id == id; });
  return static_cast<size_t>(it - graph.nodes.begin());
}

/// Whoever reads `from`, the output included, reads `to`; `except` goes on reading what it did.
void redirect(GraphDesc& graph, const std::string& from, const std::string& to,
              const std::string& except = {}) {
  for (NodeDesc& node : graph.nodes)
    if (node.id != except) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  if (graph.output == from) graph.output = to;
}

/// Puts a node at place `at`, on the picture of the node above it.
void splice_in(GraphDesc& graph, NodeDesc node, size_t at) {
  const std::string above = at == 0 ? kSourceNode : graph.nodes[at - 1].id;
  redirect(graph, above, node.id);
  if (node.inputs.empty()) node.inputs.emplace_back();
  node.inputs.front() = above;
  graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(at), std::move(node));
}

NodeDesc splice_out(GraphDesc& graph, size_t at) {
  NodeDesc node = std::move(graph.nodes[at]);
  graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(at));
  redirect(graph, node.id, node.inputs.front());
  return node;
}

}  // namespace

std::string fresh_id(const GraphDesc& graph, const std::string& wanted) {
  std::string id = wanted;
  for (int n = 2; id == kSourceNode || graph.find(id); ++n) id = fmt::format("{}{}", wanted, n);
  return id;
}

std::string add_node(GraphDesc& graph, const FilterEntry& filter, const std::string& after) {
  NodeDesc node;
  node.filter = filter.schema().name;
  node.id = fresh_id(graph, node.filter);
  node.inputs.assign(static_cast<size_t>(std::max(filter.min_inputs, 1)), kSourceNode);
  const size_t place = after == kSourceNode ? 0 : std::min(index_of(graph, after) + 1, graph.nodes.size());
  const std::string id = node.id;
  splice_in(graph, std::move(node), place);
  return id;
}

void remove_node(GraphDesc& graph, const std::string& id) {
  if (const size_t at = index_of(graph, id); at < graph.nodes.size()) splice_out(graph, at);
}

std::string duplicate_node(GraphDesc& graph, const std::string& id) {
  const size_t at = index_of(graph, id);
  if (at == graph.nodes.size()) return {};
  NodeDesc copy = graph.nodes[at];
  copy.where.clear();
  // "edges2" again becomes "edges3", not "edges22".
  const size_t stem = copy.id.find_last_not_of("0123456789") + 1;
  copy.id = fresh_id(graph, stem > 0 ? copy.id.substr(0, stem) : copy.id);
  const std::string name = copy.id;
  splice_in(graph, std::move(copy), at + 1);
  return name;
}

Refusal move_node(GraphDesc& graph, const std::string& id, size_t to) {
  const size_t from = index_of(graph, id);
  if (from == graph.nodes.size() || from == to) return std::nullopt;
  GraphDesc moved = graph;
  NodeDesc node = splice_out(moved, from);
  to = std::min(to, moved.nodes.size());
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kSourceNode && index_of(moved, node.inputs[i]) >= to)
      return fmt::format("{} cannot stand above {}, whose picture it reads", id, node.inputs[i]);
  splice_in(moved, std::move(node), to);
  graph = std::move(moved);
  return std::nullopt;
}

Refusal rename_node(GraphDesc& graph, const std::string& id, const std::string& name) {
  if (name == id) return std::nullopt;
  if (name.empty()) return "a node needs a name";
  if (name == kSourceNode) return fmt::format("'{}' stands for the decoded picture", kSourceNode);
  // What --graph and --set could not name.
  constexpr const char* kTaken = ",:=@. \t\"'";
  if (name.find_first_of(kTaken) != std::string::npos) {
    std::string other = name;
    for (char& c : other)
      if (std::strchr(kTaken, c)) c = '_';
    return fmt::format("a name holds no blank and none of , : = @ . \"; {} would do", other);
  }
  if (graph.find(name)) return fmt::format("there is a node '{}' already", name);
  redirect(graph, id, name);
  if (NodeDesc* node = graph.find(id)) node->id = name;
  return std::nullopt;
}

std::vector<std::string> possible_inputs(const GraphDesc& graph, const std::string& id) {
  std::vector<std::string> all{kSourceNode};
  for (const NodeDesc& node : graph.nodes) {
    if (node.id == id) break;
    all.push_back(node.id);
  }
  return all;
}

bool is_chain(const GraphDesc& graph) {
  std::string above = kSourceNode;
  for (const NodeDesc& node : graph.nodes) {
    if (node.inputs.empty() || node.inputs.front() != above) return false;
    above = node.id;
  }
  return graph.output == above;
}

}  // namespace lensd::ui
