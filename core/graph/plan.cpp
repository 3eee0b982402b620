#include "core/graph/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.hpp"
#include "core/graph/arena.hpp"

namespace lensd {
namespace {

constexpr size_t kAlignment = kDeviceAlignment;
constexpr size_t kFrameBlockBytes = 64;  // a FrameBlock, padded to align the filter's block
static_assert(sizeof(FrameBlock) <= kFrameBlockBytes);

/// What a node of the description outputs: index of the plan node with its image, and index of the plan node
/// with its tracks (-1: none).
struct Place {
  int image = 0, tracks = -1;
};

class Builder {
 public:
  Builder(Plan& plan, const Registry& registry, const PlanExtras& extras) : plan_(plan), registry_(registry) {
    for (const ScopeRequest& scope : extras.scopes)
      if (exists(or_output(scope.node)) &&
          (scope.kind != ScopeKind::compare || exists(or_output(scope.other))))
        scopes_.push_back(scope);
    for (const std::string& node : extras.views)
      if (exists(node)) views_.push_back(node);
    plan_.precision = bits_of(extras.precision, plan_.picture);
    plan_.colour = extras.colour;
  }

  void build() {
    add_source();
    const std::set<std::string> needed = needed_nodes();
    for (const NodeDesc& node : plan_.graph.nodes)
      if (!needed.contains(node.id)) plan_.unused.push_back(node.id);
    for (bool progress = true; progress;) {
      progress = false;
      for (const NodeDesc& node : plan_.graph.nodes)
        if (needed.contains(node.id) && !at_.contains(node.id) && inputs_ready(node)) {
          add(node);
          add_scopes(node.id);
          progress = true;
        }
    }
    if (!problems_.empty())
      throw Error(ExitCode::invalid_config, "", fmt::format("{}", fmt::join(problems_, "\n")));
    for (const ScopeRequest& scope : scopes_)
      if (scope.kind == ScopeKind::compare) add_comparison(scope);
    add_view(plan_.graph.output);
    for (const std::string& node : views_) add_view(node);
    plan_.output = plan_.frame_images[0];
  }
  /// Returns the index of the node whose tracks belong to the output; -1: none.
  int output_tracks() const { return at_.at(plan_.graph.output).tracks; }

 private:
  bool exists(const std::string& id) const { return id == kSourceNode || plan_.graph.find(id); }
  const ImageFormat& format_of(int node) const {
    return plan_.nodes[static_cast<size_t>(node)].layout.output;
  }
  std::vector<ImageFormat> formats_of(const std::vector<int>& nodes) const {
    std::vector<ImageFormat> formats;
    for (const int node : nodes) formats.push_back(format_of(node));
    return formats;
  }

  /// Places the image of node `id` in the frame.
  void add_view(const std::string& id) {
    PlanNode& node = plan_.nodes[static_cast<size_t>(at_.at(id).image)];
    if (node.frame_image < 0) {
      node.frame_image = static_cast<int>(plan_.frame_images.size());
      plan_.frame_images.push_back(node.layout.output);
    }
    plan_.views.push_back({id, node.frame_image});
  }

  const std::string& or_output(const std::string& node) const {
    return node.empty() ? plan_.graph.output : node;
  }

  /// Returns the ids of nodes that the output, a scope or a view depends on.
  std::set<std::string> needed_nodes() const {
    std::set<std::string> needed;
    std::vector<std::string> open{plan_.graph.output};
    for (const ScopeRequest& scope : scopes_) {
      open.push_back(or_output(scope.node));
      if (scope.kind == ScopeKind::compare) open.push_back(or_output(scope.other));
    }
    open.insert(open.end(), views_.begin(), views_.end());
    while (!open.empty()) {
      const std::string id = open.back();
      open.pop_back();
      const NodeDesc* node = plan_.graph.find(id);
      if (!node || !needed.insert(id).second) continue;
      for (size_t i = 0; i < node->inputs.size(); ++i)
        if (node->enabled || i == 0) open.push_back(node->inputs[i]);
    }
    return needed;
  }

  bool inputs_ready(const NodeDesc& node) const {
    if (!node.enabled) return at_.contains(node.inputs[0]);
    return std::ranges::all_of(node.inputs, [&](const auto& id) { return at_.contains(id); });
  }

  /// Adds a node that is not in the description. Returns its index.
  int add_automatic(std::string id, std::unique_ptr<Filter> filter, std::vector<int> inputs,
                    std::optional<ScopeRequest> scope = {}) {
    PlanNode node;
    node.id = std::move(id), node.filter = std::move(filter), node.inputs = std::move(inputs);
    node.filter_name = node.filter->schema().name;
    node.automatic = true, node.scope = std::move(scope);
    node.layout = node.filter->configure({.images = formats_of(node.inputs),
                                          .picture = &plan_.picture,
                                          .precision = plan_.precision,
                                          .colour = plan_.colour,
                                          .backend = plan_.backend});
    plan_.nodes.push_back(std::move(node));
    return static_cast<int>(plan_.nodes.size()) - 1;
  }

  void add_source() {
    add_automatic(kSourceNode, registry_.make_source(), {});
    plan_.nodes[0].automatic = false;
    at_[kSourceNode] = {};
    add_scopes(kSourceNode);
  }

  /// Returns true if there is a tracker upstream, along first inputs. Call only for nodes without tracks: the
  /// tracker is then disabled.
  bool tracker_is_off(const NodeDesc& desc) const {
    return upstream(plan_.graph, desc.inputs[0],
                    [this](const NodeDesc& node) { return registry_.find(node.filter)->gives_tracks; });
  }

  void add(const NodeDesc& desc) {
    if (!desc.enabled) {
      at_[desc.id] = at_.at(desc.inputs[0]);
      return;
    }
    const FilterEntry& entry = *registry_.find(desc.filter);
    const Place before = at_.at(desc.inputs[0]);
    if (entry.needs_tracks && before.tracks < 0) {
      if (!tracker_is_off(desc))
        problems_.push_back(
            fmt::format("{}: {} needs tracks; put a klt node before it", desc.label(), desc.filter));
      at_[desc.id] = before;
      return;
    }
    PlanNode node;
    node.id = desc.id, node.filter_name = desc.filter;
    node.filter = entry.make();
    for (const auto& [key, value] : desc.params)
      if (auto problem = node.filter->set(key, value))
        throw Error(ExitCode::invalid_config, desc.label(), *problem);

    for (const std::string& input : desc.inputs) node.inputs.push_back(at_.at(input).image);
    node.tracks_from = before.tracks;
    const PixelFormat wanted = common_format(node.inputs, entry.accepts, plan_.precision);
    for (int& input : node.inputs) input = converted(input, wanted);

    const std::vector<ImageFormat> formats = formats_of(node.inputs);
    try {
      check_sizes(desc, formats);
      const bool luma = entry.gives_tracks && before.image == 0 && plan_.picture.orientation == Orientation{};
      node.layout = node.filter->configure(
          {.images = formats, .picture = luma ? &plan_.picture : nullptr, .backend = plan_.backend});
    } catch (const Error& e) {  // continue as if the node passed its input through, to find all problems
      if (e.code() != ExitCode::invalid_config) throw;
      problems_.push_back(Error(e.code(), desc.label(), e.problem(), e.hint()).what());
      node.layout.output = formats[0];
    }
    const int index = static_cast<int>(plan_.nodes.size());
    at_[desc.id] = {node.layout.passes_through ? before.image : index,
                    node.layout.gives_tracks ? index : before.tracks};
    plan_.nodes.push_back(std::move(node));
  }

  void add_scopes(const std::string& id) {
    for (const ScopeRequest& scope : scopes_) {
      if (or_output(scope.node) != id || scope.kind == ScopeKind::compare) continue;
      add_scope(scope, {at_.at(id).image});
    }
  }

  /// Adds a comparison of two nodes' images. Does nothing if their sizes differ.
  void add_comparison(const ScopeRequest& scope) {
    std::vector<int> inputs{at_.at(or_output(scope.node)).image, at_.at(or_output(scope.other)).image};
    if (format_of(inputs[0]).extent != format_of(inputs[1]).extent) return;
    add_scope(scope, std::move(inputs));
  }

  /// Adds a scope. It measures 16-bit samples if an input has them. Does nothing if the scope's id is already
  /// that of another scope or of a node.
  void add_scope(const ScopeRequest& scope, std::vector<int> inputs) {
    const auto label = [](const std::string& node) { return node.empty() ? "output" : node; };
    std::string id = label(scope.node);
    if (scope.kind == ScopeKind::compare) id += "." + label(scope.other);
    id += fmt::format(".{}", name(scope.kind));
    if (plan_.find(id) || plan_.graph.find(id)) return;
    const bool deep =
        std::ranges::any_of(inputs, [&](int i) { return sample_bytes(format_of(i).format) == 2; });
    const PixelFormat format = common_format(inputs, Accepts::any, deep ? 16 : 8);
    for (int& input : inputs) input = converted(input, format);
    add_automatic(id, registry_.make_scope(scope.kind), std::move(inputs), scope);
  }

  /// Returns the format with `bits` bits per sample for all inputs of a node.
  PixelFormat common_format(const std::vector<int>& inputs, Accepts accepts, int bits) const {
    const int bytes = bits / 8;
    if (accepts != Accepts::any) return make_format(accepts == Accepts::gray, bytes);
    const bool all_gray = std::ranges::all_of(inputs, [&](int i) { return is_gray(format_of(i).format); });
    return make_format(all_gray, bytes);
  }

  void check_sizes(const NodeDesc& desc, const std::vector<ImageFormat>& formats) const {
    for (size_t i = 1; i < formats.size(); ++i)
      if (formats[i].extent != formats[0].extent)
        throw Error(ExitCode::invalid_config, "",
                    fmt::format("its inputs differ in size: {} is {}×{}, {} is {}×{}", desc.inputs[0],
                                formats[0].extent.width, formats[0].extent.height, desc.inputs[i],
                                formats[i].extent.width, formats[i].extent.height),
                    "put a resize or crop before one of them");
  }

  /// Returns the index of a node that outputs `input` in `format`. Adds a conversion node if there is none.
  int converted(int input, PixelFormat format) {
    const PlanNode& from = plan_.nodes[static_cast<size_t>(input)];
    if (from.layout.output.format == format) return input;
    const auto [conversion, inserted] = conversions_.try_emplace(std::pair(input, format));
    if (inserted)
      conversion->second = add_automatic(from.id + suffix_of(from.layout.output.format, format),
                                         registry_.make_convert(format), {input});
    return conversion->second;
  }

  /// Returns the suffix of a conversion's id. The suffix contains the number of bits per sample if the
  /// conversion changes that number.
  static std::string suffix_of(PixelFormat from, PixelFormat to) {
    const char* colour = is_gray(to) ? ".gray" : ".rgba";
    if (sample_bytes(from) == sample_bytes(to)) return colour;
    return fmt::format("{}{}", colour, 8 * sample_bytes(to));
  }

  Plan& plan_;
  const Registry& registry_;
  std::vector<ScopeRequest> scopes_;  ///< requested scopes of existing nodes
  std::vector<std::string> views_;
  std::map<std::string, Place> at_;
  std::vector<std::string> problems_;
  std::map<std::pair<int, PixelFormat>, int> conversions_;
};

int last_use(const Plan& plan, int index) {
  int last = index;
  for (size_t i = 0; i < plan.nodes.size(); ++i)
    for (const int input : plan.nodes[i].inputs)
      if (input == index) last = std::max(last, static_cast<int>(i));
  return last;
}

void lay_out_memory(Plan& plan) {
  std::vector<ArenaBuffer> buffers;
  std::vector<size_t*> targets;
  const auto add = [&](size_t bytes, int first, int last, size_t& target) {
    buffers.push_back({.bytes = bytes, .first = first, .last = last, .offset = 0});
    targets.push_back(&target);
    plan.unshared_bytes += align_up(bytes, kAlignment);
  };
  for (int i = 0; i < static_cast<int>(plan.nodes.size()); ++i) {
    PlanNode& node = plan.nodes[static_cast<size_t>(i)];
    const ImageFormat& format = node.layout.output;
    node.pitch_bytes = static_cast<std::ptrdiff_t>(align_up(format.row_bytes(), kAlignment));
    if (node.frame_image < 0 && !node.layout.passes_through)
      add(static_cast<size_t>(node.pitch_bytes) * static_cast<size_t>(format.extent.height), i,
          last_use(plan, i), node.image_offset);
    node.scratch_offsets.resize(node.layout.scratch_bytes.size());
    for (size_t s = 0; s < node.scratch_offsets.size(); ++s)
      add(node.layout.scratch_bytes[s], i, i, node.scratch_offsets[s]);

    const auto append = [](size_t& total, size_t bytes) {
      return std::exchange(total, total + align_up(bytes, kAlignment));
    };
    node.state_stride = align_up(node.layout.state_bytes, kAlignment);
    node.state_offset = append(plan.state_bytes, 2 * node.state_stride);
    node.stats_offset = append(plan.stats_bytes, node.layout.stats_bytes);
    node.frame_offset = plan.block_bytes, node.block_offset = plan.block_bytes + kFrameBlockBytes;
    plan.block_bytes = align_up(node.block_offset + node.filter->block_bytes(), kAlignment);
    plan.worker_bytes = std::max(plan.worker_bytes, align_up(node.layout.worker_bytes, kAlignment));
  }
  plan.counters_offset = std::exchange(plan.state_bytes, plan.state_bytes + kMaxCounters * kMaxCounterBytes);
  plan.arena_bytes = pack_arena(buffers, kAlignment);
  for (size_t i = 0; i < buffers.size(); ++i) *targets[i] = buffers[i].offset;
}

}  // namespace

PlanNode* Plan::find(const std::string& id) {
  const auto it = std::ranges::find(nodes, id, &PlanNode::id);
  return it == nodes.end() ? nullptr : &*it;
}

ChangeResult Plan::set_param(const SetParam& change) {
  using Kind = ChangeResult::Kind;
  PlanNode* const node = find(change.node);
  if (!node) return {};
  const FilterSchema& schema = node->filter->schema();
  const auto get = [node](const ParamSpec& other) { return other.get(node->filter->params()); };
  const ParamSpec* const spec = schema.find(change.param);
  if (spec && change_needs_plan(schema, *spec, get)) return {Kind::needs_plan, {}};
  if (const auto problem = node->filter->set(change.param, change.value))
    return {Kind::refused, node->id + ": " + *problem};
  refresh_block(*node);
  return {};
}

void Plan::refresh_block(PlanNode& node) {
  node.filter->fill_block(blocks.data() + node.block_offset);
}

std::unique_ptr<Plan> make_plan(const GraphDesc& graph, const PictureInfo& picture, Backend backend,
                                const Registry& registry, const PlanExtras& extras) {
  auto plan = std::make_unique<Plan>();
  plan->backend = backend, plan->picture = picture;
  plan->graph = resolved(graph, registry);
  Builder builder(*plan, registry, extras);
  builder.build();
  lay_out_memory(*plan);
  if (const int tracks = builder.output_tracks(); tracks >= 0)
    plan->tracks_offset = static_cast<std::ptrdiff_t>(plan->nodes[static_cast<size_t>(tracks)].stats_offset);
  plan->blocks.resize(plan->block_bytes);
  for (PlanNode& node : plan->nodes) plan->refresh_block(node);
  return plan;
}

std::string describe(const Plan& plan) {
  std::vector<std::string> parts;
  for (const PlanNode& node : plan.nodes) {
    if (node.scope) continue;
    const ImageFormat& f = node.layout.output;
    parts.push_back(fmt::format("{}{} {}×{} {}", node.id, node.automatic ? " (added)" : "", f.extent.width,
                                f.extent.height, name(f.format)));
  }
  const auto mib = [](size_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); };
  std::string text = fmt::format("{}; working memory {:.1f} MiB ({:.1f} without sharing)",
                                 fmt::join(parts, " → "), mib(plan.arena_bytes), mib(plan.unshared_bytes));
  if (!plan.unused.empty())
    text += fmt::format("; not needed by the output: {}", fmt::join(plan.unused, ", "));
  return text;
}

}  // namespace lensd
