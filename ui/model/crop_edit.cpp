#include "ui/model/crop_edit.hpp"

#include <algorithm>

namespace lensd::ui {
namespace {

int number(const NodeView& node, std::string_view name) {
  const auto& params = node.schema->params;
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].name == name) return static_cast<int>(std::get<int64_t>(node.values[i]));
  return 0;
}

/// Moves the range [from, from + length) by `by`: both ends (`both`), its start (`edge` −1) or its end
/// (`edge` 1). Returns the new start and length. The result lies in [0, room), even if the range
/// does not: the picture may become smaller during a drag.
std::pair<int, int> moved(int from, int length, int edge, bool both, int by, int room) {
  length = std::min(length, room), from = std::clamp(from, 0, room - length);
  const int least = std::min({kTinySide, room, std::max(length, 1)});
  if (both) return {std::clamp(from + by, 0, room - length), length};
  if (edge < 0) {
    const int to = std::clamp(from + by, 0, from + length - least);
    return {to, from + length - to};
  }
  if (edge > 0) return {from, std::clamp(length + by, least, room - from)};
  return {from, length};
}

}  // namespace

bool has_rectangle(const FilterSchema& schema) {
  const auto whole = [&](std::string_view name) {
    const ParamSpec* spec = schema.find(name);
    return spec && spec->type == ParamType::integer;
  };
  return whole("x") && whole("y") && whole("width") && whole("height");
}

std::string input_of(const GraphDesc& graph, const std::string& id) {
  const NodeDesc* node = graph.find(id);
  if (!node || node->inputs.empty()) return kSourceNode;
  const NodeDesc* input = upstream(graph, node->inputs.front(), [](const NodeDesc& n) { return n.enabled; });
  return input ? input->id : kSourceNode;
}

Extent output_size(const ViewerModel& model, const std::string& id) {
  if (id == kSourceNode) return model.source_size;
  const NodeView* node = model.find(id);
  return node ? node->size : Extent{};
}

PixelRect rectangle_of(const NodeView& node, Extent input) {
  const int x = std::clamp(number(node, "x"), 0, std::max(input.width - 1, 0));
  const int y = std::clamp(number(node, "y"), 0, std::max(input.height - 1, 0));
  const auto side = [](int wanted, int room) { return wanted <= 0 ? room : std::min(wanted, room); };
  return {x, y, side(number(node, "width"), input.width - x), side(number(node, "height"), input.height - y)};
}

PixelRect dragged(const PixelRect& start, const Grip& grip, int dx, int dy, Extent input) {
  const auto [x, width] = moved(start.x, start.width, grip.x, grip.move, dx, input.width);
  const auto [y, height] = moved(start.y, start.height, grip.y, grip.move, dy, input.height);
  return {x, y, width, height};
}

std::vector<std::pair<const ParamSpec*, ParamValue>> rectangle_values(const NodeView& node,
                                                                      const PixelRect& rect) {
  std::vector<std::pair<const ParamSpec*, ParamValue>> values;
  const auto set = [&](std::string_view name, int value) {
    if (number(node, name) != value) values.emplace_back(node.schema->find(name), ParamValue(int64_t{value}));
  };
  set("x", rect.x), set("y", rect.y), set("width", rect.width), set("height", rect.height);
  return values;
}

ParamSpec fitted(const ParamSpec& spec, const ParamValue& value, Extent input) {
  ParamSpec narrow = spec;
  const bool across = spec.name == "x" || spec.name == "width";
  const int side = across ? input.width : input.height;
  const bool position = spec.name == "x" || spec.name == "y";
  if (side < 1 || (!position && spec.name != "width" && spec.name != "height")) return narrow;
  const int64_t now = std::get<int64_t>(value);
  narrow.max = std::min(spec.max, static_cast<double>(std::max<int64_t>(now, position ? side - 1 : side)));
  return narrow;
}

}  // namespace lensd::ui
