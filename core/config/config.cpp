#include "core/config/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/text/printable.hpp"
#include "core/base/text/suggest.hpp"
#include "core/base/text/text.hpp"
#include "core/config/keys.hpp"
#include "core/config/toml.hpp"
#include "core/graph/plan.hpp"

namespace lensd {
namespace {

/// Reads a document and collects problems with their positions.
class Reader {
 public:
  Reader(std::string name, const Registry& registry, Config& out, GraphCheck check)
      : name_(std::move(name)), registry_(registry), out_(out), check_(check) {}

  void document(const toml::table& root) {
    for (const auto& [key, value] : root) {
      if (key.str() == "graph")
        graph_table(value);
      else if (const ConfigTable* table = find_config_table(key.str()))
        plain_table(value, *table);
      else if (key.str() == "node")
        nodes(value);
      else
        problem(key.source(), unknown("table or key", key.str(), "", table_names()));
    }
    if (has_graph_ || has_nodes_) finish_graph();
    for (const ConfigProblem& p : check_config(out_)) {
      const auto at = places_.find(p.key);
      problems.push_back(
          fmt::format("{}: {}: {}", at == places_.end() ? name_ : at->second, p.key, p.sentence));
    }
    // Sort by position, because toml++ iterates over keys in alphabetical order.
    std::ranges::stable_sort(
        problems, [this](const std::string& a, const std::string& b) { return position(a) < position(b); });
  }

  std::vector<std::string> problems;

 private:
  void problem(const toml::source_region& at, const std::string& sentence) {
    problems.push_back(fmt::format("{}: {}", where(at), sentence));
  }
  std::string where(const toml::source_region& at) const {
    return fmt::format("{}:{}:{}", name_, at.begin.line, at.begin.column);
  }

  /// Returns the line and column of a problem. Problems without a position come last.
  std::pair<int, int> position(const std::string& problem) const {
    std::pair<int, int> at{std::numeric_limits<int>::max(), 0};
    if (problem.starts_with(name_ + ":"))
      std::sscanf(problem.c_str() + name_.size(), ":%d:%d", &at.first, &at.second);
    return at;
  }

  static std::string unknown(const char* what, std::string_view typed, const std::string& in,
                             const std::vector<std::string>& known) {
    const std::string suggestion = did_you_mean(typed, known);
    return fmt::format("there is no {} '{}'{}{}", what, typed, in,
                       suggestion.empty() ? "" : " (" + suggestion + ")");
  }

  static std::vector<std::string> table_names() {
    std::vector<std::string> names{"node"};
    for (const ConfigTable& table : config_tables()) names.push_back(table.name);
    return names;
  }

  /// Calls `take(key, value)` for each key of a table. Reports the key as unknown if `take` returns false.
  /// `known`: all valid keys, for suggestions.
  template <class Take>
  void fields(const toml::node& node, const std::string& name, const std::vector<std::string>& known,
              Take take) {
    const toml::table* table = node.as_table();
    if (!table) return problem(node.source(), fmt::format("'{}' must be a table: [{}]", name, name));
    for (const auto& [key, value] : *table)
      if (!take(key.str(), value))
        problem(key.source(), unknown("key", key.str(), " in [" + name + "]", known));
  }

  void plain_table(const toml::node& node, const ConfigTable& table) {
    std::vector<std::string> known;
    for (const ParamSpec& key : table.params) known.push_back(key.name);
    const bool is_source = table.name == "source";
    if (is_source) known.emplace_back("controls");
    fields(node, table.name, known, [&](std::string_view key, const toml::node& value) {
      if (is_source && key == "controls") {
        source_controls(value);
        return true;
      }
      const ParamSpec* spec = table.find(key);
      if (!spec) return false;
      table_key(value, table, *spec);
      return true;
    });
  }
  void table_key(const toml::node& value, const ConfigTable& table, const ParamSpec& spec) {
    places_[key_name(table, spec)] = where(value.source());
    std::optional<ParamValue> given = param_value(value);
    // Accept precision = 16 as well as precision = "16".
    if (const auto* number = given ? std::get_if<int64_t>(&*given) : nullptr;
        number && spec.type == ParamType::choice)
      given = std::to_string(*number);
    ParamValue converted;
    if (!given || spec.check(*given, converted))
      return problem(value.source(),
                     fmt::format("{} = {} is not allowed, expected {}", spec.name,
                                 is_secret(key_name(table, spec)) ? "…" : as_written(value), spec.allowed()));
    spec.put(&out_, converted);
  }

  /// Reads [source.controls]. Checks only names and types, because the allowed values depend on the camera.
  void source_controls(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (!table) return problem(node.source(), "'controls' must be a table: [source.controls]");
    for (const auto& [key, value] : *table) {
      const std::string name(key.str());
      if (const std::string proper = control_name(name); proper != name)
        problem(
            key.source(),
            fmt::format("a control is named as in lensd doctor, not '{}' (did you mean {}?)", name, proper));
      const std::optional<ParamValue> given = param_value(value);
      if (!given || std::holds_alternative<double>(*given) || std::holds_alternative<Matrix>(*given))
        problem(value.source(), fmt::format("{} = {} is not allowed, expected a whole number, true, false or "
                                            "text in quotes",
                                            name, as_written(value)));
      else
        out_.source_controls.emplace_back(name, *given);
    }
    out_.given.insert("source.controls");
  }

  void graph_table(const toml::node& n) {
    const ConfigTable& table = *find_config_table("graph");
    if (n.as_table() && n.as_table()->empty()) has_graph_ = true;
    std::vector<std::string> known{"output"};
    for (const ParamSpec& key : table.params) known.push_back(key.name);
    fields(n, "graph", known, [&](std::string_view key, const toml::node& value) {
      const ParamSpec* spec = table.find(key);
      if (key == "output") {
        has_graph_ = true, output_place_ = where(value.source());
        node_text(value, graph_.output);
      } else if (spec) {
        table_key(value, table, *spec);
      }
      return spec || key == "output";
    });
  }

  void nodes(const toml::node& n) {
    has_nodes_ = true;
    const toml::array* list = n.as_array();
    if (!list) return problem(n.source(), "nodes must be written as [[node]]");
    if (list->size() > kMaxNodes) {
      incomplete_ = true;
      return problem(list->get(kMaxNodes)->source(), too_many_nodes(list->size()));
    }
    const size_t before = problems.size();
    for (const toml::node& item : *list) {
      if (const toml::table* table = item.as_table())
        node(*table);
      else
        incomplete_ = true, problem(item.source(), "a node must be a table: [[node]]");
    }
    nodes_valid_ = problems.size() == before;
  }

  void node(const toml::table& table) {
    NodeDesc desc;
    desc.where = where(table.source());
    if (table.size() > kMaxNodeParams) {
      incomplete_ = true;
      return problem(table.source(), fmt::format("a node has at most {} keys", kMaxNodeParams));
    }
    const toml::node* filter = table.get("filter");
    const auto filter_name = filter ? filter->value_exact<std::string>() : std::nullopt;
    if (!filter_name) {
      incomplete_ = true;
      problem((filter ? *filter : static_cast<const toml::node&>(table)).source(),
              "a node needs filter = \"name\"");
    }
    desc.filter = filter_name.value_or("");
    const FilterEntry* entry = registry_.find(desc.filter);
    for (const auto& [key, value] : table) {
      if (key.str() == "filter") continue;
      if (key.str() == "id")
        node_text(value, desc.id);
      else if (key.str() == "enabled")
        node_enabled(value, desc);
      else if (key.str() == "inputs" && table.contains("input"))
        problem(key.source(), desc.filter + ": " + kInputTwice);
      else if (key.str() == "input" || key.str() == "inputs")
        node_inputs(value, desc.inputs);
      else if (entry)
        node_param(key, value, entry->schema(), desc);
    }
    if (table["id"].value_exact<std::string>() == "")
      problem(table.get("id")->source(), "an id must not be empty");
    graph_.nodes.push_back(std::move(desc));
  }

  void node_text(const toml::node& value, std::string& target) {
    if (const auto v = value.value_exact<std::string>())
      target = *v;
    else
      problem(value.source(), "expected text in quotes");
  }
  void node_enabled(const toml::node& value, NodeDesc& desc) {
    if (const auto v = value.value_exact<bool>())
      desc.enabled = *v;
    else
      problem(value.source(), fmt::format("{}: enabled = {} is not allowed, expected true or false",
                                          desc.filter, as_written(value)));
  }
  void node_inputs(const toml::node& value, std::vector<std::string>& target) {
    if (const auto single = value.value_exact<std::string>()) {
      target = {*single};
      return;
    }
    const toml::array* list = value.as_array();
    if (!list) return problem(value.source(), "inputs must be a node's id or a list of ids");
    for (const toml::node& item : *list) {
      if (const auto id = item.value_exact<std::string>())
        target.push_back(*id);
      else
        problem(item.source(), "an input must be a node's id in quotes");
    }
  }

  void node_param(const toml::key& key, const toml::node& value, const FilterSchema& schema, NodeDesc& desc) {
    const ParamSpec* spec = schema.find(key.str());
    if (!spec)
      return problem(key.source(), fmt::format("{}: {}", schema.name, unknown_param(schema, key.str())));
    ParamValue converted;
    const std::optional<ParamValue> given = param_value(value);
    if (!given)
      return problem(value.source(), fmt::format("{}: {} = {} is not allowed, expected {}", schema.name,
                                                 spec->name, as_written(value), spec->allowed()));
    if (auto refusal = spec->check(*given, converted))
      return problem(value.source(), schema.name + ": " + *refusal);
    desc.params.emplace_back(spec->name, std::move(converted));
  }

  /// Returns the value on one line, for messages.
  static std::string as_written(const toml::node& value) {
    if (const auto number = value.value_exact<double>())
      return fmt::format("{}", *number);  // the shortest form: 0.2, not 0.20000000000000001
    std::ostringstream text;
    value.visit([&](const auto& v) { text << v; });
    std::string line;
    for (const char c : text.str())
      if (c != '\n')
        line += c;
      else if (!line.empty() && line.back() != ' ')
        line += ' ';
    return line;
  }

  static std::optional<ParamValue> param_value(const toml::node& value) {
    if (const auto v = value.value_exact<bool>()) return ParamValue(*v);
    if (const auto v = value.value_exact<int64_t>()) return ParamValue(*v);
    if (const auto v = value.value_exact<double>()) return ParamValue(*v);
    if (const auto v = value.value_exact<std::string>()) return ParamValue(*v);
    const toml::array* rows = value.as_array();
    if (!rows) return std::nullopt;
    Matrix m;
    for (const toml::node& row : *rows) {
      const toml::array* numbers = row.as_array();
      if (!numbers) return std::nullopt;
      for (const toml::node& number : *numbers) {
        if (!number.is_number()) return std::nullopt;
        m.values.push_back(*number.value<double>());
      }
      if (m.rows++ == 0) m.cols = static_cast<int>(numbers->size());
      if (static_cast<int>(numbers->size()) != m.cols) return std::nullopt;
    }
    return ParamValue(std::move(m));
  }

  void finish_graph() {
    // If a node or its filter is missing, skip the follow-on errors about this node and the nodes that read
    // it.
    const auto follows = [this](const std::string& sentence) {
      return incomplete_ && (sentence.find("there is no filter ''") != std::string::npos ||
                             sentence.find("is not a node") != std::string::npos);
    };
    // Messages about a node already begin with the node's file position. Messages about the output get the
    // position of the key `output`.
    std::vector<std::string> sentences = validate(graph_, registry_);
    if (sentences.empty() && nodes_valid_ && check_ == GraphCheck::plan)
      sentences = planning_problems(graph_, registry_);
    for (const std::string& sentence : sentences) {
      if (follows(sentence)) continue;
      const bool of_output = sentence.starts_with("the output") && !output_place_.empty();
      problems.push_back(sentence.starts_with(name_ + ":")
                             ? sentence
                             : (of_output ? output_place_ : name_) + ": " + sentence);
    }
    if (problems.empty()) out_.graph = resolved(graph_, registry_);
  }

  std::string name_;
  const Registry& registry_;
  Config& out_;
  GraphCheck check_;
  GraphDesc graph_;
  std::map<std::string, std::string> places_;  // "table.key" → file:line:column
  std::string output_place_;                   // position of [graph] output; empty: not given
  bool has_graph_ = false, has_nodes_ = false, nodes_valid_ = true;
  bool incomplete_ = false;  // a node is missing from the graph, or has no filter
};

ConfigCheck& config_check() {
  static ConfigCheck check = nullptr;
  return check;
}

/// Removes the number from a message of the TOML parser. The number may be a secret: an http.token that was
/// written without quotation marks.
std::string without_number(std::string_view message) {
  const size_t begin = message.find('\''), end = message.rfind('\'');
  const bool quotes_number =
      begin < end && std::string_view("+-0123456789").find(message[begin + 1]) != std::string_view::npos;
  if (!quotes_number) return std::string(message);
  return fmt::format("{}…{}", message.substr(0, begin + 1), message.substr(end));
}

}  // namespace

void set_config_check(ConfigCheck check) {
  config_check() = check;
}

std::vector<ConfigProblem> check_config(const Config& config) {
  return config_check() ? config_check()(config) : std::vector<ConfigProblem>{};
}

std::vector<std::string> parse_config(const std::string& text, const std::string& name,
                                      const Registry& registry, Config& out, GraphCheck check) {
  if (text.size() > kMaxConfigBytes)
    return {printable(fmt::format("{}: larger than {} bytes", name, kMaxConfigBytes))};
  const toml::parse_result result = parse_toml(text, name);
  if (!result) {
    const toml::parse_error& e = result.error();
    return {printable(fmt::format("{}:{}:{}: {}", name, e.source().begin.line, e.source().begin.column,
                                  without_number(e.description())))};
  }
  Config config;
  Reader reader(name, registry, config, check);
  reader.document(result.table());
  if (reader.problems.empty()) out = std::move(config);
  cap_problems(reader.problems);
  // Problems quote text of the file, which may contain control characters.
  for (std::string& problem : reader.problems) problem = printable(problem);
  return reader.problems;
}

std::string read_config_text(const std::string& path, FileKind kind) try {
  if (auto text = read_whole_file(path, kMaxConfigBytes, kind)) return *text;
  throw Error(ExitCode::invalid_config, path, "cannot be read: no such file", "check the path");
} catch (const Error& e) {
  throw Error(ExitCode::invalid_config, e.where(), e.problem(), e.hint());
}

Config load_config(const std::string& path, const Registry& registry, FileKind kind, GraphCheck check) {
  Config config;
  const auto problems = parse_config(read_config_text(path, kind), path, registry, config, check);
  if (!problems.empty())
    throw Error(ExitCode::invalid_config, "", fmt::format("{}", fmt::join(problems, "\n")));
  return config;
}

void merge(Config& base, const Config& later) {
  for (const ConfigTable& table : config_tables())
    for (const ParamSpec& key : table.params)
      if (later.has(key_name(table, key))) key.put(&base, key.get(&later));
  for (const auto& [name, value] : later.source_controls) set_value(base.source_controls, name, value);
  if (later.has("source.controls")) base.given.insert("source.controls");
  if (later.graph) base.graph = later.graph;
}

}  // namespace lensd
