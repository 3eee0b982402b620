// A plan: the graph in running order, for one picture format and one backend, with all memory laid out.
//
//   GraphDesc + PictureInfo ── make_plan() ──▶ Plan ── Executor::install() ──▶ memory, scopes, launches
//
// Node 0 is the source (colour conversion). Disabled nodes are gone (their consumers read their first input),
// nodes that the output does not need are listed in `unused` and gone as well, conversions that formats
// require are nodes of their own, marked automatic; so are the scopes that scopes ask for, each right behind
// the node that it measures, which therefore runs even where the output does not need it. Working images and
// scratch share one arena by lifetime; what the frame carries (the output, and the pictures of viewed nodes)
// is written into the frame at once.
//
// A Plan is built on any thread and then belongs to the process thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/edit.hpp"

namespace lensd {

struct PlanNode {
  std::string id, filter_name;
  std::unique_ptr<Filter> filter;
  Layout layout;
  std::vector<int> inputs;  ///< indices of earlier nodes
  bool automatic = false;
  std::optional<ScopeRequest> scope;  ///< a scope: its counts are its statistics
  int frame_image = -1;     ///< its image is this one of the frame, not in the arena; others may read it
  int tracks_from = -1;     ///< the node whose tracks its passes get
  size_t image_offset = 0;  ///< in the arena
  std::ptrdiff_t pitch_bytes = 0;  ///< of its image in the arena
  std::vector<size_t> scratch_offsets;
  size_t state_offset = 0, stats_offset = 0, block_offset = 0;  ///< in areas of their own
  size_t state_stride = 0;                                      ///< from one half of the state to the other
  size_t frame_offset = 0;  ///< of its FrameBlock, in the area of the blocks
};

struct Plan {
  const Registry* registry = nullptr;
  Backend backend = Backend::cpu;
  PictureInfo picture;
  GraphDesc graph;  ///< resolved; parameters as they were when it was planned
  std::vector<PlanNode> nodes;
  std::vector<std::string> unused;  ///< ids of nodes that neither the output nor a scope needs
  ImageFormat output;
  std::vector<ImageFormat> frame_images;  ///< what a frame carries; [0] is the output
  std::vector<FramePool::View> views;     ///< under which names
  std::ptrdiff_t tracks_offset = -1;      ///< in the statistics, of the tracks that reach the output
  size_t arena_bytes = 0;                 ///< shared by all images and scratch
  size_t unshared_bytes = 0;              ///< what they would take without sharing
  size_t state_bytes = 0, stats_bytes = 0, block_bytes = 0, worker_bytes = 0;
  std::vector<uint8_t> blocks;  ///< the parameter blocks of all nodes, on the host

  PlanNode* find(const std::string& id);
  /// Sets a live parameter of the running filter, and refreshes its block. Ignores nodes that are not part of
  /// the plan (disabled, not needed). `needs_plan`: the parameter cannot be changed in place. Does not
  /// allocate for numbers and booleans.
  ChangeResult set_param(const SetParam& change);
  /// Fills the parameter block of `node` from its filter.
  void refresh_block(PlanNode& node);
};

/// What is wanted of a plan besides the output: scopes, and pictures of nodes in the frame ("source" too).
struct PlanExtras {
  std::vector<ScopeRequest> scopes = {};
  std::vector<std::string> views = {};
};

/// Plans `graph` (sound by validate()). Throws Error(invalid_config) naming the node where formats or sizes
/// do not fit, all at once where they are independent. Extras of nodes that the graph does not have are left
/// out.
std::unique_ptr<Plan> make_plan(const GraphDesc& graph, const PictureInfo& picture, Backend backend,
                                const Registry& registry, const PlanExtras& extras = {});

/// "source 1920×1080 RGBA8 → median → grayscale 1920×1080 Gray8; 15.9 MiB in 2 shared buffers …"
std::string describe(const Plan& plan);

}  // namespace lensd
