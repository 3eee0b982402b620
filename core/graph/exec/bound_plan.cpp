#include "core/graph/exec/bound_plan.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace lensd {
namespace {

bool same_inputs(const BoundNode& a, const BoundNode& b) {
  return std::ranges::equal(
      a.in, b.in, [](const ConstImageRef& x, const ConstImageRef& y) { return x.format == y.format; });
}

const BoundNode* find_node(const BoundPlan& plan, const std::string& id, const std::string& filter_name) {
  const auto found = std::ranges::find_if(plan.nodes, [&](const BoundNode& bound) {
    return bound.node->id == id && bound.node->filter_name == filter_name;
  });
  return found == plan.nodes.end() ? nullptr : &*found;
}

/// Returns the offset of the state that the node's last frame wrote. A node of a new plan reads its previous
/// state from buffer 0.
size_t newest_state(const BoundNode& bound) {
  return bound.node->state_offset + bound.state.newest() * bound.node->state_stride;
}

size_t counters_offset(const BoundPlan& plan, size_t index) {
  return plan.plan->counters_offset + index * kMaxCounterBytes;
}

/// Returns the offset of the counters with which a node starts that is not in the plan `old`. A renamed node
/// continues with those of its old name, which is still in the plan or was removed last.
std::optional<size_t> counters_for(const BoundPlan& old, const PlanNode& node) {
  if (node.layout.counter_bytes == 0) return {};
  std::optional<size_t> found;
  for (size_t i = 0; i < old.counters.size(); ++i) {
    const CounterOwner& owner = old.counters[i];
    if (owner.filter_name != node.filter_name) continue;
    found = counters_offset(old, i);
    if (owner.id == node.id) return found;
  }
  for (const BoundNode& bound : old.nodes)
    if (bound.node->filter_name == node.filter_name) found = newest_state(bound);
  return found;
}

/// Keeps the counters of nodes that are not in the plan `next`: those that `old` keeps, then those of its
/// nodes. Drops the oldest ones if there are more than kMaxCounters.
void keep_counters(const BoundPlan& old, BoundPlan& next, std::vector<StateCopy>& copies) {
  std::vector<size_t> from;
  const auto keep = [&](const CounterOwner& owner, size_t offset) {
    if (owner.bytes == 0 || find_node(next, owner.id, owner.filter_name)) return;
    next.counters.push_back(owner), from.push_back(offset);
  };
  for (size_t i = 0; i < old.counters.size(); ++i) keep(old.counters[i], counters_offset(old, i));
  for (const BoundNode& bound : old.nodes)
    keep({bound.node->id, bound.node->filter_name, bound.node->layout.counter_bytes}, newest_state(bound));
  const size_t dropped = next.counters.size() - std::min(next.counters.size(), kMaxCounters);
  next.counters.erase(next.counters.begin(), next.counters.begin() + static_cast<std::ptrdiff_t>(dropped));
  for (size_t i = 0; i < next.counters.size(); ++i)
    copies.push_back({from[dropped + i], counters_offset(next, i), next.counters[i].bytes});
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

std::vector<StateCopy> carry_state_over(const BoundPlan& old, BoundPlan& next) {
  std::vector<StateCopy> copies;
  for (BoundNode& bound : next.nodes) {
    const PlanNode& node = *bound.node;
    if (node.layout.state_bytes == 0) continue;
    const BoundNode* const known = find_node(old, node.id, node.filter_name);
    if (!known) {
      if (const auto from = counters_for(old, node))
        copies.push_back({*from, node.state_offset, node.layout.counter_bytes});
      continue;
    }
    const PlanNode& from = *known->node;
    if (from.layout.state_bytes == node.layout.state_bytes && same_inputs(*known, bound)) {
      bound.state = known->state;
      copies.push_back({from.state_offset, node.state_offset, 2 * node.state_stride});
    } else if (const size_t bytes = std::min(from.layout.lasting_bytes, node.layout.lasting_bytes);
               bytes > 0) {
      copies.push_back({newest_state(*known), node.state_offset, bytes});
    }
  }
  keep_counters(old, next, copies);
  return copies;
}

}  // namespace lensd
