#include "core/graph/exec/bound_plan.hpp"

#include <algorithm>
#include <cstring>

namespace lensd {
namespace {

bool same_inputs(const BoundNode& a, const BoundNode& b) {
  return std::ranges::equal(
      a.in, b.in, [](const ConstImageRef& x, const ConstImageRef& y) { return x.format == y.format; });
}

}  // namespace

void bind_plan(BoundPlan& bound, std::unique_ptr<Plan> plan, MemoryKind memory, MemoryKind frame_memory,
               int frames, Profiler& profiler, Timeline& timeline) {
  bound.pool = FramePool::make({.images = plan->frame_images,
                                .kind = frame_memory,
                                .capacity = frames,
                                .side_bytes = plan->stats_bytes,
                                .tracks_offset = plan->tracks_offset,
                                .views = plan->views});
  bound.arena = MemoryBlock(memory, plan->arena_bytes);
  bound.state = MemoryBlock(memory, plan->state_bytes);
  bound.finished_stats = std::make_unique<StatsBuffer>(*plan);
  uint8_t* const arena = bound.arena.data();
  bound.nodes.reserve(plan->nodes.size());
  for (PlanNode& node : plan->nodes) {
    BoundNode& next = bound.nodes.emplace_back();
    next.node = &node;
    for (const int input : node.inputs) {
      const PlanNode& from = plan->nodes[static_cast<size_t>(input)];
      if (from.frame_image >= 0)
        next.frame_inputs.push_back({next.in.size(), static_cast<size_t>(from.frame_image)});
      next.in.push_back({arena + from.image_offset, from.pitch_bytes, from.layout.output});
    }
    for (const size_t offset : node.scratch_offsets) next.scratch.push_back(arena + offset);
    next.args.in = next.in, next.args.scratch = next.scratch;  // neither vector grows after this line
    next.args.out = {arena + node.image_offset, node.pitch_bytes, node.layout.output};
    next.args.state = bound.state.data() + node.state_offset, next.args.state_bytes = node.state_stride;
    for (const PassSpec& pass : node.layout.passes) {
      next.scopes.push_back(
          profiler.plan_scope(node.id, pass.name, pass.bytes, pass.operations, memory == MemoryKind::device));
      next.labels.push_back(timeline.plan_label(node.id + "/" + pass.name));
    }
  }
  bound.plan = std::move(plan);
}

void bind_frame(std::span<BoundNode> nodes, const FrameMemory& frame) {
  for (BoundNode& bound : nodes) {
    const PlanNode& node = *bound.node;
    bound.args.picture = frame.picture;
    bound.args.stats = frame.stats + node.stats_offset;
    bound.args.frame = reinterpret_cast<const FrameBlock*>(frame.blocks + node.frame_offset);
    bound.args.block = frame.blocks + node.block_offset;
    bound.args.host_block = frame.host_blocks + node.block_offset;
    if (node.tracks_from >= 0) {
      const PlanNode& tracker = *nodes[static_cast<size_t>(node.tracks_from)].node;
      bound.args.tracks = reinterpret_cast<const TrackTable*>(frame.stats + tracker.stats_offset);
    }
    if (node.frame_image >= 0) bound.args.out = frame.images[static_cast<size_t>(node.frame_image)];
    for (const auto& [input, image] : bound.frame_inputs) bound.in[input] = frame.images[image];
  }
}

void write_frame_blocks(std::span<BoundNode> nodes, const FrameInfo& frame, bool again, uint8_t* blocks) {
  for (BoundNode& bound : nodes) {
    bound.state.advance(again);
    const FrameBlock block{.index = frame.index,
                           .pts_ns = frame.pts_ns,
                           .state_index = bound.state.index(),
                           .reset = bound.state.reset(),
                           .fields = frame.fields};
    std::memcpy(blocks + bound.node->frame_offset, &block, sizeof(block));
  }
}

std::vector<StateCopy> carry_state_over(std::span<const BoundNode> old_nodes,
                                        std::span<BoundNode> new_nodes) {
  std::vector<StateCopy> copies;
  for (BoundNode& bound : new_nodes) {
    const PlanNode& node = *bound.node;
    if (node.layout.state_bytes == 0) continue;
    const auto old = std::ranges::find_if(old_nodes, [&](const BoundNode& other) {
      return other.node->id == node.id && other.node->filter_name == node.filter_name;
    });
    if (old == old_nodes.end()) continue;
    const PlanNode& from = *old->node;
    if (from.layout.state_bytes == node.layout.state_bytes && same_inputs(*old, bound)) {
      bound.state = old->state;
      copies.push_back({from.state_offset, node.state_offset, 2 * node.state_stride});
    } else if (const size_t bytes = std::min(from.layout.lasting_bytes, node.layout.lasting_bytes);
               bytes > 0) {
      // The new node reads its previous state from buffer 0.
      copies.push_back(
          {from.state_offset + old->state.newest() * from.state_stride, node.state_offset, bytes});
    }
  }
  return copies;
}

}  // namespace lensd
