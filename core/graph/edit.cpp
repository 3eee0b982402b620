#include "core/graph/edit.hpp"

#include <fmt/format.h>

namespace lensd {

std::string change_graph(GraphDesc& graph, const std::variant<SetParam, SetEnabled>& change,
                         const Registry& registry, bool& needs_plan) {
  const std::string& id = std::visit([](const auto& c) -> const std::string& { return c.node; }, change);
  NodeDesc* node = graph.find(id);
  if (!node) return fmt::format("there is no node '{}'", id);
  if (const auto* set = std::get_if<SetEnabled>(&change)) {
    needs_plan = needs_plan || node->enabled != set->enabled;
    node->enabled = set->enabled;
    return {};
  }
  const SetParam& set = std::get<SetParam>(change);
  const ParamSpec* spec = registry.find(node->filter)->schema().find(set.param);
  if (!spec) return fmt::format("{}: there is no parameter '{}'", id, set.param);
  ParamValue converted;
  if (const auto problem = spec->check(set.value, converted)) return id + ": " + *problem;
  std::erase_if(node->params, [&](const auto& p) { return p.first == set.param; });
  node->params.emplace_back(set.param, std::move(converted));
  needs_plan = needs_plan || spec->change == ParamChange::reconfigure;
  return {};
}

bool same_graph(const GraphDesc& a, const GraphDesc& b, const Registry& registry) {
  if (a.output != b.output || a.nodes.size() != b.nodes.size()) return false;
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    const NodeDesc &x = a.nodes[i], &y = b.nodes[i];
    if (x.id != y.id || x.filter != y.filter || x.inputs != y.inputs || x.enabled != y.enabled) return false;
    const FilterEntry* entry = registry.find(x.filter);
    if (!entry) return false;
    for (const ParamSpec& spec : entry->schema().params)
      if (value_of(x, spec) != value_of(y, spec)) return false;
  }
  return true;
}

}  // namespace lensd
