// Completion of filter chains and of assignments to their parameters.

#include <fmt/format.h>

#include <utility>

#include "app/cli_help.hpp"
#include "app/help/completion.hpp"

namespace lensd {
namespace {

const FilterSchema* find_filter(const Registry& registry, std::string_view name) {
  for (const FilterEntry& entry : registry.filters)
    if (entry.schema().name == name) return &entry.schema();
  return nullptr;
}

/// Returns the position after the last `separator` of `text` that is outside of brackets, or 0.
size_t last_piece(std::string_view text, char separator) {
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (text[i] == separator && depth == 0) start = i + 1;
  }
  return start;
}

/// Splits a node into its filter's name and its id: "median@denoise=radius=2" into "median" and "denoise".
/// Without '@', the filter's name is also the id.
std::pair<std::string, std::string> names_of(const std::string& node) {
  const std::string head = node.substr(0, node.find('='));
  const size_t at = head.find('@');
  if (at == std::string::npos) return {head, head};
  return {head.substr(0, at), head.substr(at + 1)};
}

void add_values(const ParamSpec& spec, const std::string& prefix, std::vector<Candidate>& out) {
  if (spec.type == ParamType::boolean)
    for (const char* value : {"true", "false"}) out.push_back({prefix + value, ""});
  for (const std::string& value : spec.choices) out.push_back({prefix + value, ""});
}

}  // namespace

void complete_chain(const Registry& registry, const std::string& chain, std::vector<Candidate>& out) {
  const size_t start = last_piece(chain, ',');
  const std::string before = chain.substr(0, start), node = chain.substr(start);
  const size_t equals = node.find('=');
  if (equals == std::string::npos) {
    for (const FilterEntry& entry : registry.filters)
      out.push_back({before + entry.schema().name, entry.schema().doc});
    if (const FilterSchema* exact = find_filter(registry, names_of(node).first);
        exact && !exact->params.empty())
      out.push_back({before + node + "=", "set its parameters"});
    return;
  }
  const FilterSchema* filter = find_filter(registry, names_of(node).first);
  if (!filter) return;
  const std::string values = node.substr(equals + 1);
  const size_t from = last_piece(values, ':');
  const std::string prefix = before + node.substr(0, equals + 1 + from), last = values.substr(from);
  const size_t sign = last.find('=');
  if (sign == std::string::npos) {
    for (const ParamSpec& spec : filter->params) out.push_back({prefix + spec.name + "=", option_doc(spec)});
  } else if (const ParamSpec* spec = filter->find(last.substr(0, sign))) {
    add_values(*spec, prefix + last.substr(0, sign + 1), out);
  }
}

void complete_assignment(const Registry& registry, const std::string& chain, const std::string& word,
                         std::vector<Candidate>& out) {
  std::vector<std::pair<std::string, std::string>> nodes;  // filter and id
  for (std::string rest = chain; !rest.empty();) {
    const size_t start = last_piece(rest, ',');
    nodes.insert(nodes.begin(), names_of(rest.substr(start)));
    rest.resize(start > 0 ? start - 1 : 0);
  }
  if (chain.empty())
    for (const FilterEntry& entry : registry.filters)
      nodes.emplace_back(entry.schema().name, entry.schema().name);
  for (const auto& [name, id] : nodes) {
    const FilterSchema* filter = find_filter(registry, name);
    if (!filter) continue;
    for (const ParamSpec& spec : filter->params) {
      const std::string prefix = fmt::format("{}.{}=", id, spec.name);
      if (word.starts_with(prefix))
        add_values(spec, prefix, out);
      else
        out.push_back({prefix, option_doc(spec)});
    }
  }
}

}  // namespace lensd
