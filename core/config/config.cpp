#include "core/config/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "core/base/error.hpp"

namespace lensd {
namespace {

/// Collects problems with their positions while a document is read.
class Reader {
 public:
  Reader(std::string name, const Registry& registry, Config& out)
      : name_(std::move(name)), registry_(registry), out_(out) {}

  void document(const toml::table& root) {
    const std::map<std::string_view, std::function<void(const toml::node&)>> tables{
        {"source", [this](const toml::node& n) { source(n); }},
        {"graph", [this](const toml::node& n) { graph_table(n); }},
        {"node", [this](const toml::node& n) { nodes(n); }},
        {"window", [this](const toml::node& n) { window(n); }},
        {"performance", [this](const toml::node& n) { performance(n); }},
        {"log", [this](const toml::node& n) { log(n); }},
    };
    for (const auto& [key, value] : root) {
      const auto it = tables.find(key.str());
      if (it != tables.end())
        it->second(value);
      else
        problem(key.source(), fmt::format("there is no table or key '{}'", key.str()));
    }
    if (has_graph_ || has_nodes_) finish_graph();
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

  auto text(std::optional<std::string>& target, const std::set<std::string>& allowed = {}) {
    return [this, &target, allowed](const toml::node& node) {
      const auto value = node.value_exact<std::string>();
      if (!value) return problem(node.source(), "expected text in quotes");
      if (!allowed.empty() && !allowed.contains(*value))
        return problem(node.source(), fmt::format("'{}' is not one of {}", *value, fmt::join(allowed, ", ")));
      target = *value;
    };
  }
  auto integer(std::optional<int>& target, int min, int max) {
    return [this, &target, min, max](const toml::node& node) {
      const auto value = node.value_exact<int64_t>();
      if (!value || *value < min || *value > max)
        return problem(node.source(), fmt::format("expected a whole number {} to {}", min, max));
      target = static_cast<int>(*value);
    };
  }
  auto boolean(std::optional<bool>& target) {
    return [this, &target](const toml::node& node) {
      const auto value = node.value_exact<bool>();
      if (!value) return problem(node.source(), "expected true or false");
      target = *value;
    };
  }

  void source(const toml::node& n) {
    fields(n, "source",
           {{"url", text(out_.source_url)}, {"hwdec", text(out_.hwdec, {"auto", "cuda", "no"})}});
  }
  void window(const toml::node& n) {
    fields(n, "window",
           {{"width", integer(out_.window_width, 64, 16384)},
            {"height", integer(out_.window_height, 64, 16384)},
            {"fullscreen", boolean(out_.fullscreen)},
            {"vsync", boolean(out_.vsync)}});
  }
  void performance(const toml::node& n) {
    fields(n, "performance",
           {{"backend", text(out_.backend, {"auto", "cuda", "cpu"})},
            {"threads", integer(out_.threads, 0, 1024)},
            {"device", integer(out_.device, 0, 255)}});
  }
  void log(const toml::node& n) {
    fields(n, "log",
           {{"level", text(out_.log_level, {"trace", "debug", "info", "warn", "error", "off"})},
            {"file", text(out_.log_file)}});
  }

  void graph_table(const toml::node& n) {
    has_graph_ = true;
    std::optional<std::string> output;
    fields(n, "graph", {{"output", text(output)}});
    if (output) graph_.output = *output;
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
      return problem(key.source(), fmt::format("{}: there is no parameter '{}'", schema.name, key.str()));
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
  bool has_graph_ = false, has_nodes_ = false, nameless_ = false;
};

}  // namespace

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

Config load_config(const std::string& path, const Registry& registry) {
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
  Config config;
  const auto problems = parse_config(text.str(), path, registry, config);
  if (!problems.empty())
    throw Error(ExitCode::invalid_config, "", fmt::format("{}", fmt::join(problems, "\n")));
  return config;
}

void merge(Config& base, const Config& later) {
  const auto take = [](auto& to, const auto& from) {
    if (from) to = from;
  };
  take(base.source_url, later.source_url), take(base.hwdec, later.hwdec), take(base.graph, later.graph);
  take(base.window_width, later.window_width), take(base.window_height, later.window_height);
  take(base.fullscreen, later.fullscreen), take(base.vsync, later.vsync);
  take(base.backend, later.backend), take(base.threads, later.threads), take(base.device, later.device);
  take(base.log_level, later.log_level), take(base.log_file, later.log_file);
}

}  // namespace lensd
