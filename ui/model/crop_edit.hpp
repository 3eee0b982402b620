// Filters that output a rectangle of their input: its position in the input, and how it changes when it is
// dragged. Pure functions on values.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ui/model/graph_editor.hpp"

namespace lensd::ui {

inline constexpr int kTinySide = 16;  ///< pictures below this size are marked

/// A rectangle in picture pixels.
struct PixelRect {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const PixelRect&) const = default;
};

/// The part of the rectangle that is dragged: edges, or all of it.
struct Grip {
  int x = 0, y = 0;  ///< −1: left or top edge, 1: right or bottom edge
  bool move = false;
  bool any() const { return move || x != 0 || y != 0; }
};

/// Returns true if the filter has the whole-number parameters x, y, width and height, as crop has.
bool has_rectangle(const FilterSchema& schema);

/// Returns the node whose output a node reads, without disabled nodes, which pass their input through.
std::string input_of(const GraphDesc& graph, const std::string& id);

/// Returns the size of a node's output, or of the source; empty if it is not known.
Extent output_size(const ViewerModel& model, const std::string& id);

/// Returns the rectangle that the node cuts out of `input`. Width or height 0 means up to the edge.
PixelRect rectangle_of(const NodeView& node, Extent input);

/// Returns `start` after the grip was moved by (dx, dy). The result lies in `input` and keeps at least
/// kTinySide.
PixelRect dragged(const PixelRect& start, const Grip& grip, int dx, int dy, Extent input);

/// Returns the parameters of the node that differ from the rectangle.
std::vector<std::pair<const ParamSpec*, ParamValue>> rectangle_values(const NodeView& node,
                                                                      const PixelRect& rect);

/// Returns the parameter with its range reduced to the size of the input, for sliders. The range keeps
/// `value`.
ParamSpec fitted(const ParamSpec& spec, const ParamValue& value, Extent input);

}  // namespace lensd::ui
