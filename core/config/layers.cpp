#include "core/config/layers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/text/printable.hpp"
#include "core/base/text/source_text.hpp"
#include "core/base/text/suggest.hpp"
#include "core/base/text/text.hpp"
#include "core/config/keys.hpp"
#include "core/graph/plan.hpp"

namespace lensd {
namespace {

constexpr std::string_view kPrefix = "LENSD_";

/// Returns a text such as " (did you mean LENSD_HTTP_PORT?)", or an empty string.
std::string suggestion(const std::string& variable, const std::string& prefix, const ConfigTable& table) {
  std::vector<std::string> known;
  for (const ParamSpec& key : table.params) known.push_back(prefix + upper_case(key.name));
  const std::string text = did_you_mean(variable, known);
  return text.empty() ? text : " (" + text + ")";
}

/// Applies a variable: LENSD_HTTP_PORT=8080 sets port = 8080 in [http]. Ignores variables that name no table.
void apply_variable(Config& config, const std::string& name, const std::string& value,
                    std::vector<std::string>& problems) {
  for (const ConfigTable& table : config_tables()) {
    const std::string prefix = fmt::format("{}{}_", kPrefix, upper_case(table.name));
    if (name + "_" == prefix && name != "LENSD_GRAPH")
      return problems.push_back(fmt::format("{}: the name of a key in [{}] is missing (for example {}{})",
                                            name, table.name, prefix, upper_case(table.params.front().name)));
    if (!name.starts_with(prefix)) continue;
    const auto key = std::ranges::find_if(
        table.params, [&](const ParamSpec& k) { return name == prefix + upper_case(k.name); });
    ParamValue parsed;
    if (key == table.params.end())
      problems.push_back(fmt::format("{}: there is no key of that name in [{}]{}", name, table.name,
                                     suggestion(name, prefix, table)));
    else if (const auto problem = key->parse(value, parsed))
      problems.push_back(fmt::format("{}: {}", name, *problem));
    else
      key->put(&config, parsed);
    return;
  }
}

const std::string* find(const Environment& environment, std::string_view name) {
  for (const auto& [key, value] : environment)
    if (key == name) return &value;
  return nullptr;
}

/// Runs `step` and collects the Error that it throws. With Lines::keep, keeps the line breaks of a message
/// that lists several problems.
template <class F>
void collect(std::vector<std::string>& problems, F step, Lines lines = Lines::join) {
  try {
    step();
  } catch (const Error& e) {
    problems.push_back(printable(e.what(), lines));
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
    collect(
        problems,
        [&] {
          const Config config = load_config(file, registry, layers.kind);
          if (config.graph) out.graph_file = file;
          merge(out.config, config);
        },
        Lines::keep);
  for (const auto& [name, value] : layers.environment) apply_variable(out.config, name, value, problems);

  // Each file was checked when it was read. The variables, and the merged layers, were not.
  const auto check = [&] {
    if (!problems.empty()) return;
    for (const ConfigProblem& p : check_config(out.config))
      problems.push_back(fmt::format("{}: {}", p.key, p.sentence));
  };
  check();
  const bool valid_so_far = problems.empty();
  merge(out.config, layers.command_line);
  out.config.source_url = without_file_scheme(out.config.source_url);
  out.config.output_url = without_file_scheme(out.config.output_url);
  check();
  const bool conflict = valid_so_far && !problems.empty();

  out.graph = out.config.graph.value_or(GraphDesc{});
  const std::string* chain = find(layers.environment, "LENSD_GRAPH");
  if (layers.graph_spec) chain = &*layers.graph_spec;
  if (chain) {
    out.graph_file.clear();
    const char* const origin = layers.graph_spec ? "--graph" : "LENSD_GRAPH";
    collect(problems, [&] { out.graph = parse_chain(*chain, registry, origin); });
  }
  // After any problem, skip the assignments and the graph's check, to avoid follow-on errors.
  if (problems.empty()) {
    out.graph = resolved(out.graph, registry);
    std::vector<std::pair<std::string, std::string>> sets;  // origin, assignment
    if (const std::string* set = find(layers.environment, "LENSD_SET"))
      for (const std::string& part : split(*set, ";"))
        if (const size_t begin = part.find_first_not_of(" \t\n"); begin != std::string::npos)
          sets.emplace_back("LENSD_SET", part.substr(begin));
    for (const std::string& assignment : layers.sets) sets.emplace_back("--set", assignment);
    for (const auto& set : sets)
      collect(problems, [&] { apply_set(out.graph, set.second, registry, set.first); });
    std::vector<std::string> sentences = validate(out.graph, registry);
    if (sentences.empty() && problems.empty()) sentences = planning_problems(out.graph, registry);
    for (const std::string& sentence : sentences) problems.push_back("graph: " + sentence);
  }
  if (!problems.empty())
    throw Error(conflict ? ExitCode::usage : ExitCode::invalid_config, "",
                fmt::format("{}", fmt::join(problems, "\n")));
  out.graph = resolved(out.graph, registry);
  return out;
}

}  // namespace lensd
