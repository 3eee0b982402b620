#include "core/graph/json.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/limits.hpp"

namespace lensd {
namespace {

using nlohmann::json;

/// Reads one node and adds structural problems to `problems`. Does not check values; see validate().
NodeDesc node_from_json(const json& object, size_t index, std::vector<std::string>& problems) {
  NodeDesc node;
  const auto problem = [&](const std::string& what) {
    problems.push_back(fmt::format("node {}: {}", index + 1, what));
  };
  if (!object.is_object()) {
    problem("expected an object");
    return node;
  }
  for (const auto& [key, value] : object.items()) {
    if (key == "id" || key == "filter") {
      if (!value.is_string() || value.get_ref<const std::string&>().empty())
        problem(fmt::format("{} must be non-empty text", key));
      else
        (key == "id" ? node.id : node.filter) = value.get<std::string>();
    } else if (key == "enabled") {
      if (value.is_boolean())
        node.enabled = value.get<bool>();
      else
        problem("enabled must be true or false");
    } else if (key == "input" && value.is_string()) {
      node.inputs = {value.get<std::string>()};
    } else if (key == "inputs" && value.is_array()) {
      for (const json& input : value)
        input.is_string() ? node.inputs.push_back(input.get<std::string>())
                          : problem("inputs must be ids of nodes");
    } else if (key == "params" && value.is_object()) {
      for (const auto& [name, given] : value.items()) {
        if (auto converted = value_from_json(given))
          node.params.emplace_back(name, std::move(*converted));
        else
          problem(fmt::format("{} must be a number, true, false, text or rows of numbers", name));
      }
    } else {
      problem(fmt::format("unknown key '{}', or a value of the wrong type", key));
    }
  }
  if (object.contains("input") && object.contains("inputs")) problem(kInputTwice);
  if (node.filter.empty()) problem("needs a filter");
  return node;
}

}  // namespace

std::string json_line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json to_json(const ParamValue& value) {
  if (const auto* m = std::get_if<Matrix>(&value)) {
    json rows = json::array();
    for (int y = 0; y < m->rows; ++y) {
      const auto row = m->values.begin() + std::ptrdiff_t{y} * m->cols;
      rows.push_back(std::vector<double>(row, row + m->cols));
    }
    return rows;
  }
  if (const auto* v = std::get_if<bool>(&value)) return *v;
  if (const auto* v = std::get_if<int64_t>(&value)) return *v;
  if (const auto* v = std::get_if<double>(&value)) return *v;
  return std::get<std::string>(value);
}

std::optional<int64_t> integer_from_json(const json& value) {
  const bool large = value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  return value.is_number_integer() && !large ? std::optional(value.get<int64_t>()) : std::nullopt;
}

std::optional<ParamValue> value_from_json(const json& value) {
  if (value.is_boolean()) return ParamValue(value.get<bool>());
  if (const auto integer = integer_from_json(value)) return ParamValue(*integer);
  if (value.is_number()) return ParamValue(value.get<double>());
  if (value.is_string()) return ParamValue(value.get<std::string>());
  if (!value.is_array()) return std::nullopt;
  Matrix m;
  for (const json& row : value) {
    if (!row.is_array()) return std::nullopt;
    for (const json& number : row) {
      if (!number.is_number()) return std::nullopt;
      m.values.push_back(number.get<double>());
    }
    if (m.rows++ == 0) m.cols = static_cast<int>(row.size());
    if (static_cast<int>(row.size()) != m.cols) return std::nullopt;
  }
  return ParamValue(std::move(m));
}

json graph_json(const GraphDesc& graph, const Registry& registry) {
  json nodes = json::array();
  for (const NodeDesc& node : graph.nodes) {
    json params = json::object();
    if (const FilterEntry* entry = registry.find(node.filter))
      for (const ParamSpec& spec : entry->schema().params) params[spec.name] = to_json(value_of(node, spec));
    nodes.push_back({{"id", node.id},
                     {"filter", node.filter},
                     {"inputs", node.inputs},
                     {"enabled", node.enabled},
                     {"params", std::move(params)}});
  }
  return {{"output", graph.output}, {"nodes", std::move(nodes)}};
}

GraphDesc graph_from_json(const json& value, const Registry& registry) {
  if (value.is_string()) return parse_chain(value.get<std::string>(), registry, "graph");
  std::vector<std::string> problems;
  GraphDesc graph;
  if (!value.is_object()) {
    problems.push_back("expected a chain as text, or an object with nodes");
  } else {
    if (!value.contains("nodes"))
      problems.push_back("needs the key 'nodes' (an empty list removes all nodes)");
    for (const auto& [key, part] : value.items()) {
      if (key == "output" && part.is_string())
        graph.output = part.get<std::string>();
      else if (key == "nodes" && part.is_array() && part.size() > kMaxNodes)
        problems.push_back(too_many_nodes(part.size()));
      else if (key == "nodes" && part.is_array())
        for (const json& node : part)
          graph.nodes.push_back(node_from_json(node, graph.nodes.size(), problems));
      else
        problems.push_back(fmt::format("unknown key '{}', or a value of the wrong type", key));
    }
  }
  return checked("graph", graph, std::move(problems), registry);
}

}  // namespace lensd
