#include "core/config/schema.hpp"

#include <nlohmann/json.hpp>

#include "core/config/keys.hpp"
#include "core/graph/json.hpp"

namespace lensd {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson param_schema(const ParamSpec& spec) {
  OrderedJson schema{{"description", spec.unit.empty() ? spec.doc : spec.doc + ", in " + spec.unit}};
  switch (spec.type) {
    case ParamType::boolean:
      schema["type"] = "boolean";
      break;
    case ParamType::integer:
      schema["type"] = "integer";
      schema["minimum"] = static_cast<int64_t>(spec.min), schema["maximum"] = static_cast<int64_t>(spec.max);
      if (spec.widget == Widget::odd_slider) schema["not"] = {{"multipleOf", 2}};
      break;
    case ParamType::real:
      schema["type"] = "number";
      schema["minimum"] = spec.min, schema["maximum"] = spec.max;
      break;
    case ParamType::choice:
      schema["enum"] = spec.choices;
      break;
    case ParamType::text:
      schema["type"] = "string";
      break;
    case ParamType::matrix:
      schema["type"] = "array";
      schema["items"] = {
          {"type", "array"},
          {"items", {{"type", "number"}, {"minimum", -kMaxMatrixValue}, {"maximum", kMaxMatrixValue}}}};
      schema["maxItems"] = static_cast<int64_t>(spec.max);
      break;
  }
  schema["default"] = to_json(spec.default_value);
  return schema;
}

OrderedJson table_schema(const ConfigTable& table) {
  OrderedJson properties = OrderedJson::object();
  for (const ParamSpec& key : table.params) properties[key.name] = param_schema(key);
  if (table.name == "source")
    properties["controls"] = {{"description", "controls of a camera, by the names that lensd doctor lists"},
                              {"type", "object"},
                              {"additionalProperties", {{"type", {"boolean", "integer", "string"}}}}};
  return {{"description", table.doc},
          {"type", "object"},
          {"properties", std::move(properties)},
          {"additionalProperties", false}};
}

OrderedJson node_schema(const FilterSchema& filter) {
  const OrderedJson id{{"type", "string"}, {"minLength", 1}};
  OrderedJson properties{{"id", id},
                         {"filter", {{"const", filter.name}}},
                         {"enabled", {{"type", "boolean"}, {"default", true}}},
                         {"input", id},
                         {"inputs", {{"type", "array"}, {"items", id}}}};
  for (const ParamSpec& spec : filter.params) properties[spec.name] = param_schema(spec);
  return {{"description", filter.doc},
          {"type", "object"},
          {"properties", std::move(properties)},
          {"required", {"filter"}},
          {"additionalProperties", false}};
}

}  // namespace

std::string config_schema(const Registry& registry) {
  OrderedJson properties = OrderedJson::object();
  for (const ConfigTable& table : config_tables()) properties[table.name] = table_schema(table);
  properties["graph"]["properties"]["output"] = {
      {"type", "string"}, {"description", "the node that is shown or written; default: the last one"}};
  properties["graph"]["properties"]["precision"]["enum"] = {"auto", "8", "16", 8, 16};
  OrderedJson nodes = OrderedJson::array();
  for (const FilterEntry& entry : registry.filters) nodes.push_back(node_schema(entry.schema()));
  properties["node"] = {{"description", "the nodes of the graph, in order"},
                        {"type", "array"},
                        {"items", {{"oneOf", std::move(nodes)}}}};
  const OrderedJson schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                           {"title", "lensd configuration"},
                           {"type", "object"},
                           {"properties", std::move(properties)},
                           {"additionalProperties", false}};
  return schema.dump(2) + "\n";
}

}  // namespace lensd
