// Converts parameter values and graphs to and from JSON, for example for control, the list of filters and the
// JSON Schema.
//
//   GraphDesc ◀── graph_from_json() / graph_json() ──▶ {"output": "mix", "nodes": [{"id", "filter", …}]}
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/graph/graph.hpp"

namespace lensd {

/// Returns one line of JSON; replaces invalid UTF-8. Not inline: dump() adds 1 s of compile time per file.
std::string json_line(const nlohmann::json& json);

nlohmann::json to_json(const ParamValue& value);

/// Returns nullopt if `json` is not an integer in the range of int64_t.
std::optional<int64_t> integer_from_json(const nlohmann::json& json);

/// Returns nullopt if `json` is not a boolean, number, string or array of equally long rows of numbers.
std::optional<ParamValue> value_from_json(const nlohmann::json& json);

/// Returns all nodes with id, filter, inputs, enabled and all parameters. The graph must be resolved().
nlohmann::json graph_json(const GraphDesc& graph, const Registry& registry);

/// Reads a chain ("median=radius=1,canny") or an object like the result of graph_json(), which needs "nodes",
/// and in which a node needs only "filter". Returns a valid, resolved graph. Throws Error(invalid_config)
/// with the problems.
GraphDesc graph_from_json(const nlohmann::json& json, const Registry& registry);

}  // namespace lensd
