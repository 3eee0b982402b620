#include "ui/model/track_space.hpp"

namespace lensd::ui {

bool tracks_fit(const GraphDesc& graph, const Registry& registry, const std::string& shown) {
  const auto enabled_with = [&](bool FilterEntry::*trait) {
    return [&registry, trait](const NodeDesc& node) {
      const FilterEntry* entry = registry.find(node.filter);
      return node.enabled && entry && entry->*trait;
    };
  };
  const auto moves_pixels = enabled_with(&FilterEntry::moves_pixels);
  const NodeDesc* tracker = upstream(graph, graph.output, enabled_with(&FilterEntry::gives_tracks));
  // The tracks fit if the last node that moves pixels is the same before the tracker and before the picture.
  return tracker && upstream(graph, tracker->id, moves_pixels) ==
                        upstream(graph, shown.empty() ? graph.output : shown, moves_pixels);
}

}  // namespace lensd::ui
