// Properties: named values that can be read, observed and, some of them, set.
//
//   ControlTarget ── View::of() ──▶ View ── property_value(view, "edges.low") ──▶ JSON
//   set "edges.low" 60 ──▶ Changes ──▶ commands for one frame
//
// "NODE.PARAMETER" and "NODE.enabled" are properties of the graph; the others are listed in properties.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/control/target.hpp"

namespace lensd {

/// What properties are read from, gathered once for many of them.
struct View {
  RunState state;
  GraphState graph;
  const Registry* registry = nullptr;

  static View of(const ControlTarget& target);
};

struct PropertyValue {
  Json value;
  int64_t frame = 0;  ///< the frame that the value belongs to
};

/// Nothing when there is no such property.
std::optional<PropertyValue> property_value(const View& view, const std::string& name);
Answer no_such_property(const std::string& name);

/// Values to be set together.
struct Changes {
  Batch batch;                    ///< of the graph: one frame
  std::vector<Command> commands;  ///< of the playback

  bool empty() const { return batch.changes.empty() && commands.empty(); }
};

/// Adds one assignment, checked against the schema. The answer says what is wrong with it.
Answer add_change(const View& view, const std::string& name, const Json& value, Changes& changes);

/// Name, doc and whether it can be set, for every property that is not a node's.
Json describe_properties();
/// All of them with their values; nodes' are in "graph".
Json all_properties(const View& view);

}  // namespace lensd
