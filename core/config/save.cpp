#include "core/config/save.hpp"

#include <sstream>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"
#include "core/config/toml.hpp"
#include "core/config/toml_patch.hpp"
#include "core/config/toml_text.hpp"

namespace lensd {
namespace {

bool reads_back(const std::string& text, const GraphDesc& graph, const Registry& registry) {
  Config config;
  return parse_config(text, "saved", registry, config).empty() && config.graph &&
         equivalent(*config.graph, graph, registry);
}

/// Returns the tables of `base` other than the graph, formatted by toml++, followed by the graph.
std::string rewritten(const std::string& base, const GraphDesc& graph, const Registry& registry) {
  const toml::parse_result parsed = parse_toml(base, "base");
  std::ostringstream other;
  if (parsed) {
    toml::table rest = parsed.table();
    rest.erase("graph"), rest.erase("node");
    if (!rest.empty()) other << rest << "\n\n";
  }
  return other.str() + toml_graph(graph, registry);
}

}  // namespace

std::string graph_text(const GraphDesc& graph, const std::string& base, const std::string& name,
                       const Registry& registry) {
  Config old;
  if (const auto problems = parse_config(base, name, registry, old); !problems.empty())
    throw Error(ExitCode::invalid_config, "", problems.front(), "correct it, or save under another name");
  const GraphDesc before = old.graph.value_or(resolved(GraphDesc{}, registry));
  if (const auto text = patched_toml(base, before, graph, registry);
      text && reads_back(*text, graph, registry))
    return *text;
  std::string text = rewritten(base, graph, registry);
  if (!reads_back(text, graph, registry))
    throw Error(ExitCode::runtime_failure, name, "the saved graph would not read back the same",
                "save under another name");
  return text;
}

void save_graph(const std::string& path, const GraphDesc& graph, const Registry& registry) {
  save_graph_as(path, graph, read_whole_file(path, kMaxConfigBytes).value_or(""), registry);
}

void save_graph_as(const std::string& path, const GraphDesc& graph, const std::string& base,
                   const Registry& registry) {
  write_whole_file(path, graph_text(graph, base, path, registry), Flush::to_disk);
}

}  // namespace lensd
