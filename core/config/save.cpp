#include "core/config/save.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/text/utf8.hpp"
#include "core/base/whole_file.hpp"
#include "core/config/keys.hpp"
#include "core/config/toml.hpp"
#include "core/config/toml_patch.hpp"
#include "core/config/toml_positions.hpp"
#include "core/config/toml_tables.hpp"
#include "core/config/toml_text.hpp"

namespace lensd {
namespace {

/// Orders values by name, because toml++ reads tables in that order.
ControlValues sorted(ControlValues values) {
  std::ranges::sort(values, [](const auto& a, const auto& b) { return a.first < b.first; });
  return values;
}

/// Returns true if `text` parses to `graph` and to the other values of `old`.
bool reads_back(const std::string& text, const Config& old, const GraphDesc& graph,
                const Registry& registry) {
  Config config;
  if (!parse_config(text, "saved", registry, config).empty() || !config.graph) return false;
  for (const ConfigTable& table : config_tables())
    for (const ParamSpec& key : table.params)
      if (key.get(&config) != key.get(&old)) return false;
  return config.given == old.given && sorted(config.source_controls) == sorted(old.source_controls) &&
         equivalent(*config.graph, graph, registry);
}

/// Returns the tables of `base`, with `output` in [graph] if it is needed, followed by the nodes of `graph`.
std::string rewritten(const std::string& base, const GraphDesc& graph, const Registry& registry) {
  const toml::parse_result parsed = parse_toml(base, "base");
  if (!parsed) return toml_graph(graph, registry);
  toml::table rest = parsed.table(), settings;
  rest.erase("node");
  if (const toml::table* const given = rest["graph"].as_table()) settings = *given;
  rest.erase("graph");
  settings.erase("output");
  if (needs_output(graph)) settings.insert("output", as_utf8(graph.output));
  std::string text = toml_tables(rest);
  const auto add = [&text](const std::string& part) {
    if (!text.empty() && !part.empty()) text += '\n';
    text += part;
  };
  if (!settings.empty()) {
    toml::table named;
    named.insert("graph", std::move(settings));
    add(toml_tables(named));
  }
  add(toml_nodes(graph, registry));
  return text;
}

/// Returns `text` without lines `first` to `last` (counted from 1) and without the blank lines above them.
std::string without_lines(const std::string& text, size_t first, size_t last) {
  std::string out;
  std::istringstream lines(text);
  size_t number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    if (number == first)
      while (out.ends_with("\n\n")) out.pop_back();
    if (number < first || number > last) out += line + "\n";
  }
  return out;
}

/// Returns `base` without its table [source.controls]. Throws Error(invalid_config) if `base` contains the
/// controls in another form.
std::string without_controls(const std::string& base, const std::string& name) {
  const toml::parse_result parsed = parse_toml(base, name);
  const toml::node* node = parsed ? parsed.table()["source"]["controls"].node() : nullptr;
  if (!node) return base;
  const size_t header = node->source().begin.line;
  std::istringstream lines(base);
  std::string line;
  for (size_t i = 0; i < header; ++i) std::getline(lines, line);
  if (!node->is_table() || line.find("[source.controls]") == std::string::npos)
    throw Error(ExitCode::invalid_config, name, "its controls are not in a table [source.controls]",
                "write them as such a table, or save under another name");
  size_t last = header;
  for (const auto& [key, value] : *node->as_table()) last = std::max<size_t>(last, value.source().end.line);
  return without_lines(base, header, last);
}

/// Returns the values of `base` with [graph] precision, without its comments.
std::string rewritten_precision(const toml::table& base, Precision precision) {
  toml::table root = base;
  if (!root["graph"].is_table()) root.insert_or_assign("graph", toml::table());
  toml::table& graph = *root["graph"].as_table();
  if (precision == Precision::automatic)
    graph.insert_or_assign("precision", "auto");
  else
    graph.insert_or_assign("precision", int64_t{precision == Precision::eight ? 8 : 16});
  return toml_tables(root);
}

/// Returns `base` with [graph] precision set to `precision`. Changes nothing else, unless the table has no
/// header.
std::string with_precision(const std::string& base, Precision precision, const std::string& name,
                           const Registry& registry) {
  Config old;
  if (!parse_config(base, name, registry, old).empty() || old.precision == precision) return base;
  const auto saves = [&](const std::string& edited) {
    Config changed;
    return parse_config(edited, name, registry, changed).empty() && changed.precision == precision;
  };
  const std::string value =
      precision == Precision::automatic ? "\"auto\"" : kPrecisionNames[static_cast<size_t>(precision)];
  const toml::parse_result parsed = parse_toml(base, name);
  const toml::node_view<const toml::node> table = parsed.table()["graph"];
  const TomlPositions positions(base);
  std::string text = base;
  if (const toml::node* node = table["precision"].node()) {
    const auto [begin, end] = positions.span(node->source());
    text.replace(begin, end - begin, value);
  } else if (table.node()) {
    const size_t header = positions.byte(table.node()->source().begin);
    text.insert(std::min(text.find('\n', header), text.size()), "\nprecision = " + value);
  } else {
    const size_t first = text.starts_with('[') ? 0 : text.find("\n[");
    const size_t at = first == std::string::npos ? text.size() : first + (first > 0);
    text.insert(at, "[graph]\nprecision = " + value + "\n\n");
  }
  if (!saves(text)) text = rewritten_precision(parsed.table(), precision);
  if (saves(text)) return text;
  throw Error(ExitCode::runtime_failure, name, "the file would be read back with another precision",
              "save under another name");
}

}  // namespace

std::string controls_text(const ControlValues& values, const std::string& base, const std::string& name,
                          const Registry& registry) {
  Config before, after;
  if (const auto problems = parse_config(base, name, registry, before); !problems.empty())
    throw Error(ExitCode::invalid_config, "", problems.front(), "correct it, or save under another name");
  std::string text = without_controls(base, name);
  if (!values.empty()) {
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    text += text.empty() ? "[source.controls]\n" : "\n[source.controls]\n";
    for (const auto& [control, value] : values) text += fmt::format("{} = {}\n", control, toml_value(value));
  }
  const bool same = parse_config(text, name, registry, after).empty() &&
                    sorted(after.source_controls) == sorted(values) &&
                    before.graph.has_value() == after.graph.has_value() &&
                    (!before.graph || equivalent(*before.graph, *after.graph, registry));
  if (!same)
    throw Error(ExitCode::runtime_failure, name, "the file would be read back with other controls",
                "save under another name");
  return text;
}

void save_controls(const std::string& path, const ControlValues& values, const Registry& registry) {
  const std::string base = read_whole_file(path, kMaxConfigBytes).value_or("");
  write_whole_file(path, controls_text(values, base, path, registry), Flush::to_disk);
}

std::string graph_text(const GraphDesc& graph, const std::string& base, const std::string& name,
                       const Registry& registry) {
  Config old;
  if (const auto problems = parse_config(base, name, registry, old); !problems.empty())
    throw Error(ExitCode::invalid_config, "", problems.front(), "correct it, or save under another name");
  const GraphDesc before = old.graph.value_or(resolved(GraphDesc{}, registry));
  if (const auto text = patched_toml(base, before, graph, registry);
      text && reads_back(*text, old, graph, registry))
    return *text;
  std::string text = rewritten(base, graph, registry);
  if (!reads_back(text, old, graph, registry))
    throw Error(ExitCode::runtime_failure, name, "the file would be read back with another graph",
                "save under another name");
  return text;
}

void save_graph(const std::string& path, const SavedGraph& saved, const Registry& registry) {
  save_graph_as(path, saved, read_whole_file(path, kMaxConfigBytes).value_or(""), registry);
}

void save_graph_as(const std::string& path, const SavedGraph& saved, const std::string& base,
                   const Registry& registry) {
  const std::string text = with_precision(base, saved.precision, path, registry);
  write_whole_file(path, graph_text(saved.graph, text, path, registry), Flush::to_disk);
}

}  // namespace lensd
