#include "core/config/toml_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text/utf8.hpp"

namespace lensd {
namespace {

constexpr size_t kLongLine = 72;  ///< columns; a longer matrix is written with one line per row

std::string toml_matrix(const Matrix& m) {
  std::vector<std::string> rows;
  for (int y = 0; y < m.rows; ++y) {
    const auto row = m.values.begin() + std::ptrdiff_t{y} * m.cols;
    rows.push_back(fmt::format("[{}]", fmt::join(row, row + m.cols, ", ")));
  }
  const std::string line = fmt::format("[{}]", fmt::join(rows, ", "));
  return line.size() <= kLongLine ? line : fmt::format("[\n  {},\n]", fmt::join(rows, ",\n  "));
}

}  // namespace

std::string toml_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : as_utf8(text)) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (code < 0x20 || code == 0x7F)
      out += fmt::format("\\u{:04X}", code);
    else
      out += c;
  }
  return out + "\"";
}

std::string toml_value(const ParamValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return toml_quoted(*text);
  if (const auto* matrix = std::get_if<Matrix>(&value)) return toml_matrix(*matrix);
  return to_string(value);
}

std::string toml_inputs(const std::vector<std::string>& inputs) {
  if (inputs.size() == 1) return toml_quoted(inputs.front());
  std::vector<std::string> quoted;
  for (const std::string& input : inputs) quoted.push_back(toml_quoted(input));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string toml_node(const NodeDesc& node, const std::string& above, const FilterSchema& schema) {
  std::string text = "[[node]]\n";
  if (node.id != node.filter) text += fmt::format("id = {}\n", toml_quoted(node.id));
  text += fmt::format("filter = {}\n", toml_quoted(node.filter));
  if (node.inputs.size() != 1 || node.inputs.front() != above)
    text += fmt::format("{} = {}\n", node.inputs.size() == 1 ? "input" : "inputs", toml_inputs(node.inputs));
  for (const ParamSpec& spec : schema.params)
    if (const ParamValue value = value_of(node, spec); value != spec.default_value)
      text += fmt::format("{} = {}\n", spec.name, toml_value(value));
  if (!node.enabled) text += "enabled = false\n";
  return text;
}

bool needs_output(const GraphDesc& graph) {
  // Without nodes, [graph] is the only table that defines a graph.
  return graph.nodes.empty() || graph.output != graph.nodes.back().id;
}

std::string toml_graph(const GraphDesc& graph, const Registry& registry) {
  std::string text;
  if (needs_output(graph)) text = fmt::format("[graph]\noutput = {}\n", toml_quoted(graph.output));
  const std::string nodes = toml_nodes(graph, registry);
  return text + (text.empty() || nodes.empty() ? "" : "\n") + nodes;
}

std::string toml_nodes(const GraphDesc& graph, const Registry& registry) {
  std::string text, above = kSourceNode;
  for (const NodeDesc& node : graph.nodes) {
    if (!text.empty()) text += '\n';
    text += toml_node(node, above, registry.find(node.filter)->schema());
    above = node.id;
  }
  return text;
}

}  // namespace lensd
