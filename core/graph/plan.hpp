// A plan: a graph in execution order for one picture format and one backend, with its memory layout.
//
//   GraphDesc + PictureInfo ── make_plan() ──▶ Plan ── Executor::install() ──▶ memory, scopes, launches
//
// Node 0 is the source (colour conversion). Disabled nodes are removed; readers of a disabled node read the
// node's first input. Nodes that neither the output nor a scope or view needs are removed and listed in
// `unused`. Format conversions and scopes are added as automatic nodes; a scope comes after the node that it
// measures. Intermediate images and scratch share one arena by lifetime. The output and the images of viewed
// nodes are written directly into the frame.
//
// A Plan is built on any thread and then owned by the process thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/edit.hpp"
#include "core/graph/precision.hpp"

namespace lensd {

struct PlanNode {
  std::string id, filter_name;
  std::unique_ptr<Filter> filter;
  Layout layout;
  std::vector<int> inputs;            ///< indices of earlier nodes
  bool automatic = false;             ///< added by make_plan()
  std::optional<ScopeRequest> scope;  ///< set: the node is a scope, whose statistics are the counts
  int frame_image = -1;               ///< index of its image in the frame; -1: in the arena
  int tracks_from = -1;               ///< index of the node whose tracks its passes read; -1: none
  size_t image_offset = 0;            ///< offset of its image in the arena
  std::ptrdiff_t pitch_bytes = 0;     ///< pitch of its image in the arena
  std::vector<size_t> scratch_offsets;
  size_t state_offset = 0, stats_offset = 0;  ///< in the plan's state and statistics memory
  size_t state_stride = 0;                    ///< distance between the two state buffers
  size_t block_offset = 0, frame_offset = 0;  ///< its parameter block and FrameBlock in Plan::blocks
};

inline constexpr size_t kMaxCounters = 16;  ///< maximum number of removed nodes whose counters are kept

struct Plan {
  Backend backend = Backend::cpu;
  PictureInfo picture;
  GraphDesc graph;  ///< resolved; parameters as they were when the plan was made
  std::vector<PlanNode> nodes;
  std::vector<std::string> unused;  ///< ids of nodes that the output, scopes and views do not need
  int precision = 8;                ///< bits per sample between the nodes, 8 or 16
  ColourSettings colour;
  ImageFormat output;
  std::vector<ImageFormat> frame_images;  ///< formats of a frame's images; [0] is the output
  std::vector<FramePool::View> views;     ///< viewed nodes with the index of their image in frame_images
  std::ptrdiff_t tracks_offset = -1;      ///< offset of the output's tracks in the statistics; -1: none
  size_t arena_bytes = 0;                 ///< size of the arena for images and scratch
  size_t unshared_bytes = 0;              ///< size of all images and scratch without sharing
  size_t state_bytes = 0, stats_bytes = 0, block_bytes = 0, worker_bytes = 0;
  size_t counters_offset = 0;   ///< in the state memory: kMaxCounters times kMaxCounterBytes
  std::vector<uint8_t> blocks;  ///< frame blocks and parameter blocks of all nodes, in host memory

  PlanNode* find(const std::string& id);
  /// Sets a live parameter of a filter and refreshes its block. Ignores nodes that are not in the plan.
  /// Returns `needs_plan` and changes nothing if the parameter needs a new plan. Does not allocate for
  /// numbers and booleans.
  ChangeResult set_param(const SetParam& change);
  /// Fills the parameter block of `node` from its filter.
  void refresh_block(PlanNode& node);
};

/// Additional results of a plan, its precision, and the conversion of the source's colours. `views`: ids of
/// viewed nodes, or "source"; each frame also contains their images.
struct PlanExtras {
  std::vector<ScopeRequest> scopes = {};
  std::vector<std::string> views = {};
  Precision precision = Precision::eight;
  ColourSettings colour = {};
};

/// Plans a valid graph. Throws Error(invalid_config) if formats or sizes do not fit or tracks are missing;
/// the message lists all such nodes. Ignores scopes and views of unknown nodes.
std::unique_ptr<Plan> make_plan(const GraphDesc& graph, const PictureInfo& picture, Backend backend,
                                const Registry& registry, const PlanExtras& extras = {});

/// Returns the problems that make_plan() reports for every picture, for example missing tracks, or inputs of
/// different fixed sizes. `graph` must be valid. Returns no problems if the registry only describes filters.
std::vector<std::string> planning_problems(const GraphDesc& graph, const Registry& registry);

/// Returns a text such as "source 1920×1080 RGBA8 → gray 1920×1080 Gray8; working memory 7.9 MiB (9.9 without
/// sharing)".
std::string describe(const Plan& plan);

}  // namespace lensd
