// Properties: named values that clients can read and observe. Some can also be set.
//
//   ControlTarget ── ControlView::of() ──▶ property_value(view, "edges.low") ──▶ JSON
//   set_properties({"edges.low": 60}) ──▶ ControlTarget::change_graph(), post()
//
// "NODE.PARAMETER" and "NODE.enabled" are properties of the graph, "source.CONTROL" of the camera, and
// "colour.SETTING" of the source's colour conversion. property_table.cpp lists the others.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/control/control_target.hpp"

namespace lensd {

/// The state that properties are read from. Copied once per request and once per EventHub::tick().
struct ControlView {
  RunState state;
  GraphState graph;
  const Registry* registry = nullptr;
  const ControlTarget* target = nullptr;

  /// Returns the camera's controls; null if the source has none. Reads them at the first call instead of in
  /// of(), because reading keeps the camera busy.
  const SourceControls* controls() const;

  static ControlView of(const ControlTarget& target);

 private:
  mutable std::shared_ptr<const SourceControls> controls_;
};

struct PropertyValue {
  Json value;
  int64_t frame = 0;  ///< index of the frame that the value belongs to
};

/// Returns the value of a property, or nullopt if there is no such property.
std::optional<PropertyValue> property_value(const ControlView& view, const std::string& name);
/// Returns true if there is such a property. Much cheaper than property_value(), which computes the value.
bool has_property(const ControlView& view, const std::string& name);
/// Returns the error for an unknown property. It names the unknown node, parameter or control.
Response no_such_property(const ControlView& view, const std::string& name);

using PropertyValues = std::vector<std::pair<std::string, Json>>;

/// Checks all values, then posts them. If one is refused, posts nothing and replies with the refusal. All
/// changes of the graph and its settings take effect on the same frame, or none if their plan is refused: the
/// reply is that of ControlTarget::change_graph(). Replies not_posted() if the command queue is full or there
/// is no pipeline; some values may already be posted then.
void set_properties(ControlTarget& target, const PropertyValues& values, Reply reply);
/// Checks and posts the values of an object {NAME: VALUE, …}, like the overload with a list.
void set_properties(ControlTarget& target, const Json& object, Reply reply);

/// Returns the description and value of every control of the camera; an empty array if the source has none.
Json describe_controls(const ControlView& view);
/// Posts the command that resets controls to their defaults; all of them if `names` is empty. Names may have
/// the prefix "source.".
Response reset_controls(ControlTarget& target, std::vector<std::string> names);

/// Returns the error for a request that names more than kMaxRequestNames properties.
Response too_many_names();
/// Returns the error for a command that ControlTarget::post() did not queue.
Response not_posted();

/// Returns "name", "doc" and "settable" of every property that does not belong to a node.
Json describe_properties();
/// Returns the values of all properties in describe_properties(). Node properties are under "graph".
Json all_properties(const ControlView& view);

}  // namespace lensd
