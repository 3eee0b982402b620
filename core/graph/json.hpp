// Values and graphs as JSON: for control, the JSON Schema and the panel page.
//
//   GraphDesc ◀── graph_from_json() / graph_json() ──▶ {"output": "mix", "nodes": [{"id", "filter", …}]}
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/graph/graph.hpp"

namespace lensd {

/// One line, valid UTF-8 whatever the texts are. Compiled once, since it takes a second in every file.
std::string json_line(const nlohmann::json& json);

nlohmann::json to_json(const ParamValue& value);

/// Numbers, booleans, text and rows of numbers; nothing for anything else.
std::optional<ParamValue> value_from_json(const nlohmann::json& json);

/// Every node with id, filter, inputs, enabled and all its params, given or default. Requires resolved().
nlohmann::json graph_json(const GraphDesc& graph, const Registry& registry);

/// Reads a chain ("median=radius=1,canny") or an object as graph_json() makes it, in which only filter must
/// be given. Sound and resolved. Throws Error(invalid_config) with everything that is wrong.
GraphDesc graph_from_json(const nlohmann::json& json, const Registry& registry);

}  // namespace lensd
