#include "core/graph/graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/limits.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/graph/catalogue.hpp"
#include "core/graph/edit.hpp"

namespace lensd {
namespace {

/// Splits at separators outside of brackets, which enclose the rows of a matrix.
std::vector<std::string> split_outside_brackets(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == separator && depth <= 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Returns the text of a value in a chain. Encloses it in brackets if it contains separators, for example a
/// list of kernels.
std::string chain_value(const ParamValue& value) {
  const std::string text = to_string(value);
  const auto separated = [&](char separator) { return split_outside_brackets(text, separator).size() > 1; };
  return separated(',') || separated(':') ? "[" + text + "]" : text;
}

/// Returns a message with the correct syntax if `text` is like "median radius=2" or "median:radius=2", else
/// "".
std::string chain_syntax(const std::string& text, const Registry& registry) {
  constexpr const char* kSeparators = " \t\n:";
  const std::string filter = text.substr(0, text.find_first_of(kSeparators));
  if (filter.size() == text.size() || !registry.find(filter.substr(0, filter.find('@')))) return {};
  const std::vector<std::string> params = split(text.substr(filter.size()), kSeparators);
  return fmt::format("'{}' is not a node of a chain (write {}={})", text, filter, fmt::join(params, ":"));
}

/// Parses one node of a chain: NAME[@ID][=KEY=VALUE[:KEY=VALUE…]].
NodeDesc parse_node(const std::string& text, const Registry& registry, std::vector<std::string>& problems) {
  NodeDesc node;
  const size_t equals = text.find('=');
  std::string head(trimmed(text.substr(0, equals)));
  if (const size_t at = head.find('@'); at != std::string::npos) {
    node.id = head.substr(at + 1);
    head.resize(at);
    if (node.id.empty()) problems.push_back(fmt::format("'{}': an id is missing after '@'", trimmed(text)));
  }
  node.filter = head;
  const std::string label = node.id.empty() ? node.filter : node.id;
  const FilterEntry* entry = registry.find(head);
  if (!entry) {
    const std::string syntax = chain_syntax(std::string(trimmed(text)), registry);
    // Only the first message lists all filters, because text that is not a chain yields many unknown names.
    const bool listed = std::ranges::any_of(problems, [](const std::string& p) {
      return p.starts_with("there is no filter") && p.size() > kShownName;
    });
    problems.push_back(head.empty()      ? "a filter's name is missing"
                       : !syntax.empty() ? syntax
                       : listed ? fmt::format("there is no filter '{}'", shortened(head, kShownName / 2))
                                : unknown_filter(head, registry));
    return node;
  }
  if (equals == std::string::npos) return node;
  if (static_cast<size_t>(std::ranges::count(text, ':')) >= kMaxNodeParams) {
    problems.push_back(fmt::format("{}: more than {} parameters", label, kMaxNodeParams));
    return node;
  }
  for (const std::string& assignment : split_outside_brackets(text.substr(equals + 1), ':')) {
    const size_t sign = assignment.find('=');
    const std::string key(trimmed(assignment.substr(0, sign)));
    if (sign == std::string::npos || key.empty()) {
      problems.push_back(fmt::format("{}: '{}' is not of the form parameter=value", label, assignment));
      continue;
    }
    const bool twice = std::ranges::any_of(node.params, [&](const auto& p) { return p.first == key; });
    const std::string problem =
        twice ? key + " is given twice"
              : assign(node, entry->schema(), key, std::string(trimmed(assignment.substr(sign + 1))));
    if (!problem.empty()) problems.push_back(label + ": " + problem);
  }
  return node;
}

/// Sets missing ids to the filter's name, with a number from 2 on if that name is taken.
void name_nodes(GraphDesc& graph) {
  std::set<std::string> taken{kSourceNode};
  for (const NodeDesc& node : graph.nodes)
    if (!node.id.empty()) taken.insert(node.id);
  std::map<std::string, int> next;  // next number to try for each filter
  for (NodeDesc& node : graph.nodes) {
    if (!node.id.empty()) continue;
    node.id = node.filter;
    int& n = next.try_emplace(node.filter, 2).first->second;
    while (!taken.insert(node.id).second) node.id = fmt::format("{}{}", node.filter, n++);
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

/// Returns the nodes on a cycle or between two cycles, in order. Repeatedly removes nodes that read no
/// remaining node, or that no remaining node reads; the rest is cyclic. Takes O(n log n) time.
std::vector<const NodeDesc*> cyclic(const GraphDesc& graph) {
  const size_t count = graph.nodes.size();
  std::map<std::string_view, size_t> at;
  for (size_t i = 0; i < count; ++i) at.emplace(graph.nodes[i].id, i);
  std::vector<std::vector<size_t>> reads(count), readers(count);
  for (size_t i = 0; i < count; ++i)
    for (const std::string& input : graph.nodes[i].inputs)
      if (const auto it = at.find(input); it != at.end())
        reads[i].push_back(it->second), readers[it->second].push_back(i);
  std::vector<bool> left(count, true);
  // A node is removed when none of its neighbours in `from` remain; `to` is the reverse relation.
  const auto remove = [&](const auto& from, const auto& to) {
    std::vector<size_t> degree(count), open;
    for (size_t i = 0; i < count; ++i) {
      if (!left[i]) continue;
      degree[i] = static_cast<size_t>(std::ranges::count_if(from[i], [&](size_t n) { return left[n]; }));
      if (degree[i] == 0) open.push_back(i);
    }
    while (!open.empty()) {
      const size_t i = open.back();
      open.pop_back();
      left[i] = false;
      for (const size_t n : to[i])
        if (left[n] && --degree[n] == 0) open.push_back(n);
    }
  };
  remove(reads, readers);
  remove(readers, reads);
  std::vector<const NodeDesc*> in_order;
  for (size_t i = 0; i < count; ++i)
    if (left[i]) in_order.push_back(&graph.nodes[i]);
  return in_order;
}

/// Returns `sentence`, with the node's file position before it if the node has one.
std::string placed(const NodeDesc& node, const std::string& sentence) {
  return node.where.empty() ? sentence : node.where + ": " + sentence;
}

/// Reports ids that several nodes have, invalid ids, and a node with the reserved id "source".
void check_ids(const GraphDesc& graph, std::vector<std::string>& problems) {
  std::map<std::string, int> uses;
  for (const NodeDesc& node : graph.nodes) {
    if (node.id.empty()) continue;
    if (++uses[node.id] == 2)
      problems.push_back(placed(node, fmt::format("two nodes have the id '{}'", node.id)));
    if (const auto problem = name_problem(node.id))
      problems.push_back(fmt::format("{}: {}", node.label(), *problem));
    if (node.id == kSourceNode && uses[node.id] == 1)
      problems.push_back(placed(node, "the id 'source' stands for the decoded picture"));
  }
}

/// Reports a cycle at its first node.
void check_cycles(const GraphDesc& graph, std::vector<std::string>& problems) {
  const std::vector<const NodeDesc*> loop = cyclic(graph);
  if (loop.empty()) return;
  std::vector<std::string> ids;
  for (const NodeDesc* node : loop) ids.push_back(node->id);
  problems.push_back(placed(*loop.front(), fmt::format("there is a cycle through {}", fmt::join(ids, ", "))));
}

/// Returns a message for each exceeded limit. Call before the other checks, which then take bounded time.
std::vector<std::string> size_problems(const GraphDesc& graph) {
  if (graph.nodes.size() > kMaxNodes) return {too_many_nodes(graph.nodes.size())};
  std::vector<std::string> problems;
  const auto check = [&](const std::string& label, const char* what, size_t size, size_t limit) {
    if (size > limit) problems.push_back(fmt::format("{}: {} {}, the limit is {}", label, size, what, limit));
  };
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeDesc& node = graph.nodes[i];
    const std::string label = node.where.empty() ? fmt::format("node {}", i + 1) : node.where;
    check(label, "bytes of id", node.id.size(), kMaxNameBytes);
    check(label, "bytes of filter name", node.filter.size(), kMaxNameBytes);
    check(label, "inputs", node.inputs.size(), kMaxNodeInputs);
    check(label, "parameters", node.params.size(), kMaxNodeParams);
    for (const std::string& input : node.inputs) check(label, "bytes of input", input.size(), kMaxNameBytes);
  }
  check("the output", "bytes of id", graph.output.size(), kMaxNameBytes);
  return problems;
}

void check_node(const NodeDesc& node, const std::set<std::string_view>& ids, const Registry& registry,
                std::vector<std::string>& problems) {
  const std::string label = node.label();
  const FilterEntry* entry = registry.find(node.filter);
  if (!entry) {
    problems.push_back(label + ": " + unknown_filter(node.filter, registry));
    return;
  }
  for (const std::string& input : node.inputs)
    if (!ids.contains(input))
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

std::string too_many_nodes(size_t count) {
  return fmt::format("{} nodes are too many, the limit is {}", count, kMaxNodes);
}

NodeDesc* GraphDesc::find(const std::string& id) {
  const auto it = std::ranges::find(nodes, id, &NodeDesc::id);
  return it == nodes.end() ? nullptr : &*it;
}

const NodeDesc* GraphDesc::find(const std::string& id) const {
  return const_cast<GraphDesc*>(this)->find(id);
}

void NodeDesc::set_param(const std::string& param, ParamValue value) {
  const auto it = std::ranges::find_if(params, [&](const auto& p) { return p.first == param; });
  if (it != params.end())
    it->second = std::move(value);
  else
    params.emplace_back(param, std::move(value));
}

GraphDesc parse_chain(const std::string& spec, const Registry& registry, const std::string& origin) {
  GraphDesc graph;
  std::vector<std::string> problems;
  const std::vector<std::string> parts = split_outside_brackets(spec, ',');
  if (parts.size() > kMaxNodes)
    problems.push_back(too_many_nodes(parts.size()));
  else if (!trimmed(spec).empty())
    for (const std::string& part : parts) graph.nodes.push_back(parse_node(part, registry, problems));
  return checked(origin, graph, std::move(problems), registry, "see `lensd filters`");
}

std::string to_chain(const GraphDesc& graph) {
  std::string text;
  for (const NodeDesc& node : graph.nodes) {
    text += (text.empty() ? "" : ",") + node.filter;
    if (node.id != node.filter) text += "@" + node.id;
    char separator = '=';
    for (const auto& [key, value] : node.params) {
      text += fmt::format("{}{}={}", separator, key, chain_value(value));
      separator = ':';
    }
  }
  return text;
}

std::optional<std::string> name_problem(const std::string& name) {
  constexpr const char* kTaken = ",:=@. \t\"'";
  const auto is_control = [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7F; };
  if (!is_utf8(name) || std::ranges::any_of(name, is_control))
    return "a name cannot contain control characters or bytes that are not UTF-8";
  if (name.find_first_of(kTaken) == std::string::npos) return std::nullopt;
  std::string other = name;
  for (char& c : other)
    if (std::strchr(kTaken, c)) c = '_';
  return fmt::format("a name cannot contain spaces, tabs or any of , : = @ . \" ' (try {})", other);
}

std::vector<std::string> validate(const GraphDesc& given, const Registry& registry) {
  std::vector<std::string> problems = size_problems(given);
  if (!problems.empty()) return problems;
  check_ids(given, problems);

  GraphDesc graph = given;
  name_nodes(graph);
  fill_inputs(graph);
  std::set<std::string_view> ids{kSourceNode};
  for (const NodeDesc& node : graph.nodes) ids.insert(node.id);
  for (const NodeDesc& node : graph.nodes) check_node(node, ids, registry, problems);
  if (!ids.contains(graph.output))
    problems.push_back(fmt::format("the output '{}' is not a node", graph.output));
  check_cycles(graph, problems);
  return problems;
}

GraphDesc checked(const std::string& where, const GraphDesc& graph, std::vector<std::string> problems,
                  const Registry& registry, const std::string& hint) {
  if (problems.empty()) problems = validate(graph, registry);
  cap_problems(problems);
  if (!problems.empty())
    throw Error(ExitCode::invalid_config, where, fmt::format("{}", fmt::join(problems, "; ")), hint);
  return resolved(graph, registry);
}

void clear_places(GraphDesc& graph) {
  for (NodeDesc& node : graph.nodes) node.where.clear();
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
    return entry && std::ranges::all_of(entry->schema().params, [&](const ParamSpec& spec) {
             return value_of(x, spec) == value_of(y, spec);
           });
  };
  return a.output == b.output && std::ranges::equal(a.nodes, b.nodes, same_node);
}

ParamValue value_of(const NodeDesc& node, const ParamSpec& spec) {
  for (const auto& [key, value] : node.params) {
    ParamValue converted;
    if (key == spec.name && !spec.check(value, converted)) return converted;
  }
  return spec.default_value;
}

}  // namespace lensd
