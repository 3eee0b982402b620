#include "core/config/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#define TOML_EXCEPTIONS 0

#include "core/base/error.hpp"
#include "core/config/keys.hpp"
#include "core/config/toml.hpp"
#include "core/graph/edit.hpp"

namespace lensd {
namespace {

/// Collects problems with their positions while a document is read.
class Reader {
 public:
  Reader(std::string name, const Registry& registry, Config& out)
      : name_(std::move(name)), registry_(registry), out_(out) {}

  void document(const toml::table& root) {
    for (const auto& [key, value] : root) {
      if (const ConfigTable* table = find_config_table(key.str()))
        plain_table(value, *table);
      else if (key.str() == "graph")
        graph_table(value);
      else if (key.str() == "node")
        nodes(value);
      else
        problem(key.source(), fmt::format("there is no table or key '{}'", key.str()));
    }
    if (has_graph_ || has_nodes_) finish_graph();
    for (const ConfigProblem& p : check_config(out_)) {
      const auto at = places_.find(p.key);
      problems.push_back(
          fmt::format("{}: {}: {}", at == places_.end() ? name_ : at->second, p.key, p.sentence));
    }
  }

  std::vector<std::string> problems;

 private:
  void problem(const toml::source_region& at, const std::string& sentence) {
    problems.push_back(fmt::format("{}: {}", where(at), sentence));
  }
  std::string where(const toml::source_region& at) const {
    return fmt::format("{}:{}:{}", name_, at.begin.line, at.begin.column);
  }

  using Fields = std::map<std::string_view, std::function<void(const toml::node&)>>;
  void fields(const toml::node& node, const char* table_name, const Fields& known) {
    const toml::table* table = node.as_table();
    if (!table) {
      problem(node.source(), fmt::format("'{}' is a table: [{}]", table_name, table_name));
      return;
    }
    for (const auto& [key, value] : *table) {
      const auto it = known.find(key.str());
      if (it != known.end())
        it->second(value);
      else
        problem(key.source(), fmt::format("there is no key '{}' in [{}]", key.str(), table_name));
    }
  }

  void plain_table(const toml::node& node, const ConfigTable& table) {
    Fields known;
    for (const ConfigKey& key : table.keys)
      known[key.spec.name] = [this, &key, &table](const toml::node& value) {
        places_[table.name + "." + key.spec.name] = where(value.source());
        plain_key(value, key.spec);
      };
    fields(node, table.name.c_str(), known);
  }
  void plain_key(const toml::node& value, const ParamSpec& spec) {
    const std::optional<ParamValue> given = param_value(value);
    ParamValue converted;
    if (!given || spec.check(*given, converted))
      return problem(value.source(), fmt::format("{} = {} is not allowed, expected {}", spec.name,
                                                 as_written(value), spec.allowed()));
    spec.put(&out_, converted);
  }

  void graph_table(const toml::node& n) {
    has_graph_ = true;
    fields(n, "graph", {{"output", [this](const toml::node& value) { node_text(value, graph_.output); }}});
  }

  void nodes(const toml::node& n) {
    has_nodes_ = true;
    const toml::array* list = n.as_array();
    if (!list) return problem(n.source(), "nodes are written as [[node]]");
    for (const toml::node& item : *list) {
      if (const toml::table* table = item.as_table())
        node(*table);
      else
        problem(item.source(), "a node is a table: [[node]]");
    }
  }

  void node(const toml::table& table) {
    NodeDesc desc;
    desc.where = where(table.source());
    const toml::node* filter = table.get("filter");
    const auto filter_name = filter ? filter->value_exact<std::string>() : std::nullopt;
    if (!filter_name) {
      nameless_ = true;
      return problem((filter ? *filter : static_cast<const toml::node&>(table)).source(),
                     "a node needs filter = \"name\"");
    }
    desc.filter = *filter_name;
    const FilterEntry* entry = registry_.find(desc.filter);
    for (const auto& [key, value] : table) {
      if (key.str() == "filter") continue;
      if (key.str() == "id")
        node_text(value, desc.id);
      else if (key.str() == "enabled")
        node_enabled(value, desc);
      else if (key.str() == "input" || key.str() == "inputs")
        node_inputs(value, desc.inputs);
      else if (entry)
        node_param(key, value, entry->schema(), desc);
    }
    if (desc.id.empty() && table.contains("id")) problem(table.get("id")->source(), "an id is not empty");
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
    if (!list) return problem(value.source(), "inputs are a node's id or a list of ids");
    for (const toml::node& item : *list) {
      if (const auto id = item.value_exact<std::string>())
        target.push_back(*id);
      else
        problem(item.source(), "an input is a node's id in quotes");
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

  /// For messages: on one line.
  static std::string as_written(const toml::node& value) {
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
    // A node without a filter is missing from the graph: those that read it would be blamed.
    if (!nameless_)
      for (const std::string& sentence : validate(graph_, registry_))
        problems.push_back(sentence.starts_with(name_ + ":") ? sentence : name_ + ": " + sentence);
    if (problems.empty()) out_.graph = resolved(graph_, registry_);
  }

  std::string name_;
  const Registry& registry_;
  Config& out_;
  GraphDesc graph_;
  std::map<std::string, std::string> places_;  // of plain keys, by "table.key"
  bool has_graph_ = false, has_nodes_ = false, nameless_ = false;
};

ConfigCheck& config_check() {
  static ConfigCheck check = nullptr;
  return check;
}

}  // namespace

void set_config_check(ConfigCheck check) {
  config_check() = check;
}

std::vector<ConfigProblem> check_config(const Config& config) {
  return config_check() ? config_check()(config) : std::vector<ConfigProblem>{};
}

std::vector<std::string> parse_config(const std::string& text, const std::string& name,
                                      const Registry& registry, Config& out) {
  if (text.size() > kMaxConfigBytes) return {fmt::format("{}: larger than {} bytes", name, kMaxConfigBytes)};
  const toml::parse_result result = toml::parse(text, name);
  if (!result) {
    const toml::parse_error& e = result.error();
    return {
        fmt::format("{}:{}:{}: {}", name, e.source().begin.line, e.source().begin.column, e.description())};
  }
  Config config;
  Reader reader(name, registry, config);
  reader.document(result.table());
  if (reader.problems.empty()) out = std::move(config);
  return reader.problems;
}

std::string read_config_text(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(ExitCode::invalid_config, path, "is a directory", "name a .toml file");
  if (std::filesystem::file_size(path, ignored) > kMaxConfigBytes && !ignored)
    throw Error(ExitCode::invalid_config, path, fmt::format("larger than {} bytes", kMaxConfigBytes));
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(ExitCode::invalid_config, path, "cannot be read", "check the path and its permissions");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Config load_config(const std::string& path, const Registry& registry) {
  Config config;
  const auto problems = parse_config(read_config_text(path), path, registry, config);
  if (!problems.empty())
    throw Error(ExitCode::invalid_config, "", fmt::format("{}", fmt::join(problems, "\n")));
  return config;
}

void merge(Config& base, const Config& later) {
  for (const ConfigTable& table : config_tables())
    for (const ConfigKey& key : table.keys) key.take(base, later);
  if (later.graph) base.graph = later.graph;
}

}  // namespace lensd
