#include "ui/model/track_space.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace lensd::ui {
namespace {

/// Returns the id of the first enabled node that `matches`, from node `id` upwards along first inputs;
/// "source" if there is none.
std::string upstream(const GraphDesc& graph, std::string id,
                     const std::function<bool(const NodeDesc&)>& matches) {
  for (size_t steps = 0; steps <= graph.nodes.size(); ++steps) {
    const NodeDesc* node = graph.find(id);
    if (!node || (node->enabled && matches(*node))) break;
    id = node->inputs.empty() ? std::string(kSourceNode) : node->inputs.front();
  }
  return graph.find(id) ? id : std::string(kSourceNode);
}

bool moves_pixels(const NodeDesc& node) {
  constexpr std::array<std::string_view, 4> kFilters = {"crop", "flip", "rotate", "stabilize"};
  return std::find(kFilters.begin(), kFilters.end(), node.filter) != kFilters.end();
}

}  // namespace

bool tracks_fit(const GraphDesc& graph, const Registry& registry, const std::string& shown) {
  const std::string tracker = upstream(graph, graph.output, [&](const NodeDesc& node) {
    const FilterEntry* entry = registry.find(node.filter);
    return entry && entry->gives_tracks;
  });
  if (tracker == kSourceNode) return false;
  return upstream(graph, tracker, moves_pixels) ==
         upstream(graph, shown.empty() ? graph.output : shown, moves_pixels);
}

}  // namespace lensd::ui
