#include "app/pipeline/output_aspect.hpp"

#include <numeric>

namespace lensd {
namespace {

PixelAspect reduced(int64_t width, int64_t height) {
  constexpr int64_t kMax = 1 << 16;  // encoders store width and height in 16 bits
  const int64_t divisor = std::gcd(width, height);
  width /= divisor, height /= divisor;
  for (; width >= kMax || height >= kMax; width = (width + 1) / 2, height = (height + 1) / 2) {
  }
  return {static_cast<int>(width), static_cast<int>(height)};
}

bool is_quarter_turn(const PlanNode& node) {
  const ParamSpec* angle = node.filter->schema().find("angle");
  return node.filter_name == "rotate" && angle && to_string(angle->get(node.filter->params())) != "180";
}

PixelAspect aspect_of(const Plan& plan, size_t index, PixelAspect source) {
  const PlanNode& node = plan.nodes[index];
  if (node.inputs.empty()) return source;
  const auto input = static_cast<size_t>(node.inputs[0]);
  const PixelAspect aspect = aspect_of(plan, input, source);
  if (is_quarter_turn(node)) return aspect.turned();
  if (node.filter_name != "resize") return aspect;
  const Extent in = plan.nodes[input].layout.output.extent, out = node.layout.output.extent;
  return reduced(int64_t{aspect.width} * in.width * out.height,
                 int64_t{aspect.height} * in.height * out.width);
}

}  // namespace

PixelAspect output_aspect(const Plan& plan, PixelAspect source) {
  if (source.square()) return source;
  for (size_t i = 0; i < plan.nodes.size(); ++i)
    if (plan.nodes[i].frame_image == 0) return aspect_of(plan, i, source);
  return source;
}

}  // namespace lensd
