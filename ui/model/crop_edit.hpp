// Rectangles of crop nodes: converts parameters to a rectangle and back, and moves the rectangle while the
// user drags it. Pure functions.
#pragma once

#include <utility>
#include <vector>

#include "ui/model/graph_editor.hpp"

namespace lensd::ui {

inline constexpr int kTinySide = 16;  ///< in pixels; pictures with a smaller side are marked as very small

/// A rectangle in picture pixels.
struct PixelRect {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const PixelRect&) const = default;
};

/// The part of the rectangle that is dragged: an edge, a corner, or all of it (`move`).
struct Grip {
  int x = 0, y = 0;  ///< −1: left or top edge, 1: right or bottom edge, 0: neither
  bool move = false;
  bool any() const { return move || x != 0 || y != 0; }
};

/// Returns true if the filter has integer parameters x, y, width and height, as the crop filter has.
bool has_rectangle(const FilterSchema& schema);

/// Returns the first input of node `id`: another node's id, or "source". Skips disabled nodes, because they
/// pass their input through.
std::string input_of(const GraphDesc& graph, const std::string& id);

/// Returns the size of a node's output, or of the source; empty if it is not known.
Extent output_size(const ViewerModel& model, const std::string& id);

/// Returns the rectangle that the node cuts out of a picture of size `input`. If the parameter width or
/// height is 0, the rectangle extends to the picture's edge.
PixelRect rectangle_of(const NodeView& node, Extent input);

/// Returns the rectangle `start` after its grip was moved by (dx, dy). The result lies in `input`. Dragging
/// an edge does not shrink a side below kTinySide. A side that is already shorter is not shrunk at all.
PixelRect dragged(const PixelRect& start, const Grip& grip, int dx, int dy, Extent input);

/// Returns the parameters that must change so that the node outputs `rect`, with their new values.
std::vector<std::pair<const ParamSpec*, ParamValue>> rectangle_values(const NodeView& node,
                                                                      const PixelRect& rect);

/// Returns `spec` with its maximum limited by the size of the input, for sliders of x, y, width and height.
/// The maximum is at least `value`. Returns other parameters unchanged.
ParamSpec fitted(const ParamSpec& spec, const ParamValue& value, Extent input);

}  // namespace lensd::ui
