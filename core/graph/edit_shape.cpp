#include "core/graph/edit_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/limits.hpp"
#include "core/base/text/text.hpp"

namespace lensd {
namespace {

size_t index_of(const GraphDesc& graph, const std::string& id) {
  const auto it = std::ranges::find(graph.nodes, id, &NodeDesc::id);
  return static_cast<size_t>(it - graph.nodes.begin());
}

/// Inserts `node` at index `at`. `node` then reads the node above (index at − 1, or the source), and the
/// former readers of the node above read `node`.
void splice_in(GraphDesc& graph, NodeDesc node, size_t at) {
  const std::string above = at == 0 ? kSourceNode : graph.nodes[at - 1].id;
  redirect_readers(graph, above, node.id);
  if (node.inputs.empty()) node.inputs.emplace_back();
  node.inputs.front() = above;
  graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(at), std::move(node));
}

NodeDesc splice_out(GraphDesc& graph, size_t at) {
  NodeDesc node = std::move(graph.nodes[at]);
  graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(at));
  redirect_readers(graph, node.id, node.inputs.front());
  return node;
}

/// Returns `wanted`, with a number appended if that id is taken.
std::string unique_id(const GraphDesc& graph, const std::string& wanted) {
  std::string id = wanted;
  for (int n = 2; id == kSourceNode || graph.find(id); ++n) id = fmt::format("{}{}", wanted, n);
  return id;
}

}  // namespace

void redirect_readers(GraphDesc& graph, const std::string& from, const std::string& to) {
  for (NodeDesc& node : graph.nodes) std::ranges::replace(node.inputs, from, to);
  if (graph.output == from) graph.output = to;
}

std::string add_node(GraphDesc& graph, const FilterEntry& filter, const std::string& after) {
  NodeDesc node;
  node.filter = filter.schema().name;
  node.id = unique_id(graph, node.filter);
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
  // Drop the old number: a copy of "edges2" is "edges3", not "edges22". Leave room for the new number.
  const size_t letters = copy.id.find_last_not_of("0123456789") + 1;
  const std::string stem(first_bytes(copy.id, std::min(letters, kMaxNameBytes - 4)));
  copy.id = unique_id(graph, stem.empty() ? copy.id : stem);
  const std::string name = copy.id;
  splice_in(graph, std::move(copy), at + 1);
  return name;
}

EditProblem move_node(GraphDesc& graph, const std::string& id, size_t to) {
  const size_t from = index_of(graph, id);
  if (from == graph.nodes.size() || from == to) return std::nullopt;
  GraphDesc moved = graph;
  NodeDesc node = splice_out(moved, from);
  to = std::min(to, moved.nodes.size());
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kSourceNode && index_of(moved, node.inputs[i]) >= to)
      return fmt::format("{} cannot move above {}, which it reads", id, node.inputs[i]);
  splice_in(moved, std::move(node), to);
  graph = std::move(moved);
  return std::nullopt;
}

EditProblem rename_node(GraphDesc& graph, const std::string& id, const std::string& name) {
  if (name == id) return std::nullopt;
  if (name.empty()) return "a node needs a name";
  if (name == kSourceNode) return fmt::format("'{}' is the name of the decoded picture", kSourceNode);
  if (EditProblem problem = name_problem(name)) return problem;
  if (name.size() > kMaxNameBytes) return fmt::format("a name has at most {} bytes", kMaxNameBytes);
  if (graph.find(name)) return fmt::format("there is a node '{}' already", name);
  redirect_readers(graph, id, name);
  if (NodeDesc* node = graph.find(id)) node->id = name;
  return std::nullopt;
}

std::optional<std::pair<std::string, std::string>> renamed_node(const GraphDesc& before,
                                                                const GraphDesc& after,
                                                                const Registry& registry) {
  if (before.nodes.size() != after.nodes.size()) return std::nullopt;
  for (size_t i = 0; i < after.nodes.size(); ++i) {
    const std::string &from = before.nodes[i].id, &to = after.nodes[i].id;
    if (from == to) continue;
    GraphDesc renamed = before;
    if (rename_node(renamed, from, to) || !equivalent(renamed, after, registry)) return std::nullopt;
    return std::pair(from, to);
  }
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

void set_node_input(GraphDesc& graph, const std::string& id, size_t n, const std::string& input) {
  NodeDesc* node = graph.find(id);
  if (!node || n > node->inputs.size()) return;
  node->inputs.resize(input.empty() ? n : std::max(n + 1, node->inputs.size()));
  if (!input.empty()) node->inputs[n] = input;
}

bool same_shape(const GraphDesc& a, const GraphDesc& b) {
  return a.output == b.output &&
         std::ranges::equal(a.nodes, b.nodes, [](const NodeDesc& x, const NodeDesc& y) {
           return x.id == y.id && x.filter == y.filter && x.inputs == y.inputs;
         });
}

}  // namespace lensd
