#include "core/config/layers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/base/error.hpp"
#include "core/config/keys.hpp"
#include "core/graph/edit.hpp"

namespace lensd {
namespace {

constexpr std::string_view kPrefix = "LENSD_";

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// LENSD_HTTP_PORT=8080 is port = 8080 in [http]. Variables that name no table are other programs' business.
void apply_variable(Config& config, const std::string& name, const std::string& value,
                    std::vector<std::string>& problems) {
  for (const ConfigTable& table : config_tables()) {
    const std::string prefix = fmt::format("{}{}_", kPrefix, upper(table.name));
    if (!name.starts_with(prefix)) continue;
    const auto key = std::find_if(table.keys.begin(), table.keys.end(),
                                  [&](const ConfigKey& k) { return name == prefix + upper(k.spec.name); });
    ParamValue parsed;
    if (key == table.keys.end())
      problems.push_back(fmt::format("{}: there is no key of that name in [{}]", name, table.name));
    else if (const auto problem = key->spec.parse(value, parsed))
      problems.push_back(fmt::format("{}: {}", name, *problem));
    else
      key->spec.put(&config, parsed);
    return;
  }
}

const std::string* find(const Environment& environment, std::string_view name) {
  for (const auto& [key, value] : environment)
    if (key == name) return &value;
  return nullptr;
}

/// The assignments of LENSD_SET, parted by ';'.
std::vector<std::string> assignments(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(';', at), text.size());
    const std::string part = text.substr(at, end - at);
    if (part.find_first_not_of(" \t\n") != std::string::npos)
      parts.push_back(part.substr(part.find_first_not_of(" \t\n")));
    at = end + 1;
  }
  return parts;
}

/// Runs a step that throws Error and keeps its sentences.
template <class F>
void collect(std::vector<std::string>& problems, F step) {
  try {
    step();
  } catch (const Error& e) {
    problems.push_back(e.what());
  }
}

}  // namespace

Environment process_environment() {
  Environment variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (text.starts_with(kPrefix) && equals != std::string_view::npos)
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Layered load_layers(const Layers& layers, const Registry& registry) {
  std::vector<std::string> problems;
  Layered out;
  for (const std::string& file : layers.files)
    collect(problems, [&] { merge(out.config, load_config(file, registry)); });
  for (const auto& [name, value] : layers.environment) apply_variable(out.config, name, value, problems);

  // Values of several places may not go together, or come from variables.
  if (problems.empty())
    for (const ConfigProblem& p : check_config(out.config))
      problems.push_back(fmt::format("{}: {}", p.key, p.sentence));

  out.graph = out.config.graph.value_or(GraphDesc{});
  const std::string* chain = find(layers.environment, "LENSD_GRAPH");
  if (layers.graph_spec)
    collect(problems, [&] { out.graph = parse_chain(*layers.graph_spec, registry); });
  else if (chain)
    collect(problems, [&] { out.graph = parse_chain(*chain, registry); });
  // Assignments name nodes: without a sound graph they would be blamed for what is missing.
  if (problems.empty()) {
    out.graph = resolved(out.graph, registry);
    std::vector<std::string> sets;
    if (const std::string* set = find(layers.environment, "LENSD_SET")) sets = assignments(*set);
    sets.insert(sets.end(), layers.sets.begin(), layers.sets.end());
    for (const std::string& assignment : sets)
      collect(problems, [&] { apply_set(out.graph, assignment, registry); });
    for (const std::string& sentence : validate(out.graph, registry))
      problems.push_back("graph: " + sentence);
  }
  if (!problems.empty())
    throw Error(ExitCode::invalid_config, "", fmt::format("{}", fmt::join(problems, "\n")));
  out.graph = resolved(out.graph, registry);
  return out;
}

}  // namespace lensd
