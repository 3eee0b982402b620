#include "core/graph/graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.hpp"
#include "core/graph/edit.hpp"

namespace lensd {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t at = 0;
  for (;;) {
    const size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    if (end == std::string::npos) return parts;
    at = end + 1;
  }
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::vector<std::string> names(const Registry& registry) {
  std::vector<std::string> all;
  for (const FilterEntry& filter : registry.filters) all.push_back(filter.schema().name);
  return all;
}

std::string unknown_filter(const std::string& name, const Registry& registry) {
  return fmt::format("there is no filter '{}', there are {}", name, fmt::join(names(registry), ", "));
}

[[noreturn]] void refuse(const std::string& where, const std::vector<std::string>& problems) {
  throw Error(ExitCode::invalid_config, where, fmt::format("{}", fmt::join(problems, "; ")),
              "see `lensd filters`");
}

/// One node of a chain: NAME[@ID][=KEY=VALUE[:KEY=VALUE…]].
NodeDesc parse_node(const std::string& text, const Registry& registry, std::vector<std::string>& problems) {
  NodeDesc node;
  const size_t equals = text.find('=');
  std::string head = trimmed(text.substr(0, equals));
  if (const size_t at = head.find('@'); at != std::string::npos) {
    node.id = head.substr(at + 1);
    head.resize(at);
    if (node.id.empty()) problems.push_back(fmt::format("'{}': an id is missing after '@'", trimmed(text)));
  }
  node.filter = head;
  const std::string label = node.id.empty() ? node.filter : node.id;
  const FilterEntry* entry = registry.find(head);
  if (!entry) {
    problems.push_back(head.empty() ? "a filter's name is missing" : unknown_filter(head, registry));
    return node;
  }
  if (equals == std::string::npos) return node;
  for (const std::string& assignment : split(text.substr(equals + 1), ':')) {
    const size_t sign = assignment.find('=');
    const std::string key = trimmed(assignment.substr(0, sign));
    if (sign == std::string::npos || key.empty()) {
      problems.push_back(fmt::format("{}: '{}' is not of the form parameter=value", label, assignment));
      continue;
    }
    const bool twice =
        std::any_of(node.params.begin(), node.params.end(), [&](const auto& p) { return p.first == key; });
    const std::string problem =
        twice ? key + " is given twice"
              : assign(node, entry->schema(), key, trimmed(assignment.substr(sign + 1)));
    if (!problem.empty()) problems.push_back(label + ": " + problem);
  }
  return node;
}

/// Ids for the nodes that have none: the filter's name, numbered from 2 where it is taken.
void name_nodes(GraphDesc& graph) {
  std::set<std::string> taken{kSourceNode};
  for (const NodeDesc& node : graph.nodes)
    if (!node.id.empty()) taken.insert(node.id);
  for (NodeDesc& node : graph.nodes) {
    if (!node.id.empty()) continue;
    node.id = node.filter;
    for (int n = 2; !taken.insert(node.id).second; ++n) node.id = fmt::format("{}{}", node.filter, n);
  }
}

void fill_inputs(GraphDesc& graph) {
  std::string above = kSourceNode;
  for (NodeDesc& node : graph.nodes) {
    if (node.inputs.empty()) node.inputs = {above};
    above = node.id;
  }
  if (graph.output.empty()) graph.output = above;
}

/// Nodes on a cycle or between two: what is left when nodes whose inputs are all known are taken away, and
/// then those that nothing left reads.
std::vector<std::string> cyclic(const GraphDesc& graph) {
  std::set<std::string> left;
  for (const NodeDesc& node : graph.nodes) left.insert(node.id);
  const auto reads_left = [&](const NodeDesc& node) {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](const auto& input) { return left.contains(input); });
  };
  const auto read_by_left = [&](const NodeDesc& node) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const NodeDesc& other) {
      return left.contains(other.id) &&
             std::find(other.inputs.begin(), other.inputs.end(), node.id) != other.inputs.end();
    });
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (const NodeDesc& node : graph.nodes)
      if (left.contains(node.id) && !(reads_left(node) && read_by_left(node)))
        progress = left.erase(node.id) > 0;
  }
  std::vector<std::string> in_order;
  for (const NodeDesc& node : graph.nodes)
    if (left.contains(node.id)) in_order.push_back(node.id);
  return in_order;
}

void check_node(const NodeDesc& node, const GraphDesc& graph, const Registry& registry,
                std::vector<std::string>& problems) {
  const std::string label = node.where.empty() ? node.id : node.where + ": " + node.id;
  const FilterEntry* entry = registry.find(node.filter);
  if (!entry) {
    problems.push_back(label + ": " + unknown_filter(node.filter, registry));
    return;
  }
  for (const std::string& input : node.inputs)
    if (input != kSourceNode && !graph.find(input))
      problems.push_back(fmt::format("{}: its input '{}' is not a node", label, input));
  const int inputs = static_cast<int>(node.inputs.size());
  if (inputs < entry->min_inputs || inputs > entry->max_inputs)
    problems.push_back(entry->min_inputs == entry->max_inputs
                           ? fmt::format("{}: {} takes {} input{}, not {}", label, node.filter,
                                         entry->min_inputs, entry->min_inputs == 1 ? "" : "s", inputs)
                           : fmt::format("{}: {} takes {} to {} inputs, not {}", label, node.filter,
                                         entry->min_inputs, entry->max_inputs, inputs));
  for (const auto& [key, value] : node.params)
    if (const CheckedParam checked = check_param(entry->schema(), key, value); !checked.spec)
      problems.push_back(label + ": " + checked.problem);
}

}  // namespace

NodeDesc* GraphDesc::find(const std::string& id) {
  const auto it = std::find_if(nodes.begin(), nodes.end(), [&](const NodeDesc& n) { return n.id == id; });
  return it == nodes.end() ? nullptr : &*it;
}

const NodeDesc* GraphDesc::find(const std::string& id) const {
  return const_cast<GraphDesc*>(this)->find(id);
}

void NodeDesc::set_param(const std::string& param, ParamValue value) {
  const auto it = std::find_if(params.begin(), params.end(), [&](const auto& p) { return p.first == param; });
  if (it != params.end())
    it->second = std::move(value);
  else
    params.emplace_back(param, std::move(value));
}

GraphDesc parse_chain(const std::string& spec, const Registry& registry) {
  GraphDesc graph;
  std::vector<std::string> problems;
  if (!trimmed(spec).empty())
    for (const std::string& part : split(spec, ','))
      graph.nodes.push_back(parse_node(part, registry, problems));
  if (problems.empty()) problems = validate(graph, registry);
  if (!problems.empty()) refuse("--graph", problems);
  return resolved(graph, registry);
}

std::string to_chain(const GraphDesc& graph) {
  std::string text;
  for (const NodeDesc& node : graph.nodes) {
    text += (text.empty() ? "" : ",") + node.filter;
    if (node.id != node.filter) text += "@" + node.id;
    char separator = '=';
    for (const auto& [key, value] : node.params) {
      text += fmt::format("{}{}={}", separator, key, to_string(value));
      separator = ':';
    }
  }
  return text;
}

std::vector<std::string> validate(const GraphDesc& given, const Registry& registry) {
  std::vector<std::string> problems;
  std::map<std::string, int> uses;
  for (const NodeDesc& node : given.nodes)
    if (!node.id.empty() && ++uses[node.id] == 2)
      problems.push_back(fmt::format("two nodes have the id '{}'", node.id));
  if (uses.contains(kSourceNode)) problems.push_back("the id 'source' stands for the decoded picture");

  GraphDesc graph = given;
  name_nodes(graph);
  fill_inputs(graph);
  for (const NodeDesc& node : graph.nodes) check_node(node, graph, registry, problems);
  if (graph.output != kSourceNode && !graph.find(graph.output))
    problems.push_back(fmt::format("the output '{}' is not a node", graph.output));
  if (const auto loop = cyclic(graph); !loop.empty())
    problems.push_back(fmt::format("there is a cycle through {}", fmt::join(loop, ", ")));
  return problems;
}

GraphDesc resolved(const GraphDesc& graph, const Registry&) {
  GraphDesc copy = graph;
  name_nodes(copy);
  fill_inputs(copy);
  return copy;
}

bool equivalent(const GraphDesc& a, const GraphDesc& b, const Registry& registry) {
  const auto same_node = [&](const NodeDesc& x, const NodeDesc& y) {
    if (x.id != y.id || x.filter != y.filter || x.enabled != y.enabled || x.inputs != y.inputs) return false;
    const FilterEntry* entry = registry.find(x.filter);
    return entry &&
           std::all_of(entry->schema().params.begin(), entry->schema().params.end(),
                       [&](const ParamSpec& spec) { return value_of(x, spec) == value_of(y, spec); });
  };
  return a.output == b.output &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same_node);
}

ParamValue value_of(const NodeDesc& node, const ParamSpec& spec) {
  for (const auto& [key, value] : node.params) {
    ParamValue converted;
    if (key == spec.name && !spec.check(value, converted)) return converted;
  }
  return spec.default_value;
}

}  // namespace lensd
