#include "core/graph/exec/bound_nodes.hpp"

#include <algorithm>
#include <cstring>

namespace lensd {

std::vector<BoundNode> bind_nodes(Plan& plan, const Areas& areas, Profiler& profiler, Timeline& timeline,
                                  bool gpu) {
  std::vector<BoundNode> steps;
  steps.reserve(plan.nodes.size());
  for (PlanNode& node : plan.nodes) {
    BoundNode& step = steps.emplace_back();
    step.node = &node;
    for (const int input : node.inputs) {
      const PlanNode& from = plan.nodes[static_cast<size_t>(input)];
      if (from.frame_image >= 0)
        step.from_frame.push_back({step.in.size(), static_cast<size_t>(from.frame_image)});
      step.in.push_back({areas.arena + from.image_offset, from.pitch_bytes, from.layout.output});
    }
    for (const size_t offset : node.scratch_offsets) step.scratch.push_back(areas.arena + offset);
    step.args.in = step.in, step.args.scratch = step.scratch;  // vectors whose elements stay put from now on
    step.args.out = {areas.arena + node.image_offset, node.pitch_bytes, node.layout.output};
    step.args.state = areas.state + node.state_offset, step.args.state_bytes = node.state_stride;
    for (const PassSpec& pass : node.layout.passes) {
      step.scopes.push_back(profiler.scope(node.id, pass.name, pass.bytes, pass.operations, gpu));
      step.labels.push_back(timeline.label(node.id + "/" + pass.name));
    }
  }
  return steps;
}

void point_at(std::span<BoundNode> steps, const FrameAreas& frame) {
  for (BoundNode& step : steps) {
    const PlanNode& node = *step.node;
    step.args.picture = frame.picture;
    step.args.stats = frame.stats + node.stats_offset;
    step.args.frame = reinterpret_cast<const FrameBlock*>(frame.blocks + node.frame_offset);
    step.args.block = frame.blocks + node.block_offset;
    step.args.host_block = frame.host_blocks + node.block_offset;
    if (node.tracks_from >= 0) {
      const PlanNode& tracker = *steps[static_cast<size_t>(node.tracks_from)].node;
      step.args.tracks = reinterpret_cast<const TrackTable*>(frame.stats + tracker.stats_offset);
    }
    if (node.frame_image >= 0) step.args.out = frame.images[static_cast<size_t>(node.frame_image)];
    for (const auto& [input, image] : step.from_frame) step.in[input] = frame.images[image];
  }
}

void tick(std::span<BoundNode> steps, const FrameInfo& frame, bool again, uint8_t* blocks) {
  for (BoundNode& step : steps) {
    step.clock.tick(again);
    const FrameBlock block{.index = frame.index,
                           .pts_ns = frame.pts_ns,
                           .state_index = step.clock.state_index(),
                           .reset = step.clock.reset()};
    std::memcpy(blocks + step.node->frame_offset, &block, sizeof(block));
  }
}

namespace {

bool same_inputs(const BoundNode& a, const BoundNode& b) {
  return std::equal(a.in.begin(), a.in.end(), b.in.begin(), b.in.end(),
                    [](const ConstImageRef& x, const ConstImageRef& y) { return x.format == y.format; });
}

}  // namespace

std::vector<StateCopy> carry_over(std::span<const BoundNode> last, std::span<BoundNode> next) {
  std::vector<StateCopy> copies;
  for (BoundNode& step : next) {
    const PlanNode& node = *step.node;
    if (node.layout.state_bytes == 0) continue;
    const auto old = std::find_if(last.begin(), last.end(), [&](const BoundNode& s) {
      return s.node->id == node.id && s.node->filter_name == node.filter_name;
    });
    if (old == last.end()) continue;
    const PlanNode& from = *old->node;
    if (from.layout.state_bytes == node.layout.state_bytes && same_inputs(*old, step)) {
      step.clock = old->clock;
      copies.push_back({from.state_offset, node.state_offset, 2 * node.state_stride});
    } else if (const size_t bytes = std::min(from.layout.lasting_bytes, node.layout.lasting_bytes);
               bytes > 0) {
      // The new state starts with half 0 as its past, which gets what the last frame left in the old one.
      copies.push_back(
          {from.state_offset + old->clock.newest() * from.state_stride, node.state_offset, bytes});
    }
  }
  return copies;
}

std::vector<std::string> active_rows(const Plan& plan) {
  std::vector<std::string> rows{"decode", "upload", "download", "present", "encode", kLatencyRow};
  for (const PlanNode& node : plan.nodes) rows.push_back(node.id);
  return rows;
}

}  // namespace lensd
