// Filter geometry: random graphs, parameters, sizes and formats; the same bytes on one and three threads.
#include <fuzzer/FuzzedDataProvider.h>

#include <random>

#include "core/base/error.hpp"
#include "core/graph/exec/executor.hpp"
#include "kernels/registry.hpp"
#include "tests/fuzz/common/require.hpp"

namespace lensd {
namespace {

using fuzz::require;
constexpr size_t kMaxBytes = 8 << 20;  ///< memory limit of a plan; larger plans take too long
constexpr int kMaxPictureSide = 70, kMaxChainNodes = 4, kFrames = 3;

ParamValue draw_matrix(const ParamSpec& spec, FuzzedDataProvider& in) {
  Matrix matrix;
  const int most = (static_cast<int>(spec.max) - 1) / 2;
  matrix.rows = 2 * in.ConsumeIntegralInRange(0, most) + 1,
  matrix.cols = 2 * in.ConsumeIntegralInRange(0, most) + 1;
  for (int i = 0; i < matrix.rows * matrix.cols; ++i)
    matrix.values.push_back(in.ConsumeFloatingPointInRange(-1e3, 1e3));
  return matrix;
}

ParamValue draw(const ParamSpec& spec, FuzzedDataProvider& in) {
  switch (spec.type) {
    case ParamType::boolean:
      return in.ConsumeBool();
    case ParamType::integer:
      return in.ConsumeIntegralInRange(static_cast<int64_t>(spec.min), static_cast<int64_t>(spec.max));
    case ParamType::real:
      return in.ConsumeFloatingPointInRange(spec.min, spec.max);
    case ParamType::choice:
      return spec.choices[in.ConsumeIntegralInRange<size_t>(0, spec.choices.size() - 1)];
    case ParamType::matrix:
      return draw_matrix(spec, in);
    case ParamType::text:
      break;
  }
  return spec.default_value;
}

const FilterEntry& pick_filter(FuzzedDataProvider& in) {
  const auto filters = registry().filters;
  return filters[in.ConsumeIntegralInRange<size_t>(0, filters.size() - 1)];
}

/// Draws a node that reads nodes of `ids`. Omits parameter values that the filter refuses, such as even
/// sizes.
NodeDesc draw_node(FuzzedDataProvider& in, const std::vector<std::string>& ids) {
  const FilterEntry& entry = pick_filter(in);
  NodeDesc node{.id = "n" + std::to_string(ids.size()), .filter = entry.schema().name};
  const int inputs = in.ConsumeIntegralInRange(entry.min_inputs, entry.max_inputs);
  for (int i = 0; i < inputs; ++i)
    node.inputs.push_back(in.ConsumeBool() ? ids.back()
                                           : ids[in.ConsumeIntegralInRange<size_t>(0, ids.size() - 1)]);
  const auto filter = entry.make();
  for (const ParamSpec& spec : entry.schema().params) {
    if (in.ConsumeBool()) continue;
    const ParamValue value = draw(spec, in);
    if (!filter->set(spec.name, value)) node.set_param(spec.name, value);
  }
  return node;
}

GraphDesc draw_graph(FuzzedDataProvider& in) {
  GraphDesc graph;
  std::vector<std::string> ids{kSourceNode};
  const int nodes = in.ConsumeIntegralInRange(1, kMaxChainNodes);
  for (int i = 0; i < nodes; ++i) {
    graph.nodes.push_back(draw_node(in, ids));
    ids.push_back(graph.nodes.back().id);
  }
  graph.output = ids.back();
  return graph;
}

PictureFormat planar_yuv(uint8_t depth, uint8_t shift_x, uint8_t shift_y) {
  const auto bytes = static_cast<uint8_t>(depth > 8 ? 2 : 1);
  return {.model = ColourModel::yuv,
          .depth = depth,
          .chroma_shift_x = shift_x,
          .chroma_shift_y = shift_y,
          .plane_count = 3,
          .components = {{{0, bytes, 0, 0}, {1, bytes, 0, 0}, {2, bytes, 0, 0}, {}}}};
}

PictureFormat draw_format(FuzzedDataProvider& in) {
  const auto depth = in.ConsumeBool() ? uint8_t{8} : in.ConsumeIntegralInRange<uint8_t>(9, 16);
  switch (in.ConsumeIntegralInRange(0, 4)) {
    case 0:
      return {.model = ColourModel::gray,
              .depth = 8,
              .plane_count = 1,
              .components = {{{0, 1, 0, 0}, {}, {}, {}}}};
    case 1:
      return {.model = ColourModel::rgb,
              .depth = 8,
              .has_alpha = true,
              .plane_count = 1,
              .components = {{{0, 4, 2, 0}, {0, 4, 1, 0}, {0, 4, 0, 0}, {0, 4, 3, 0}}}};
    case 2:  // NV12
      return {.model = ColourModel::yuv,
              .depth = 8,
              .chroma_shift_x = 1,
              .chroma_shift_y = 1,
              .plane_count = 2,
              .components = {{{0, 1, 0, 0}, {1, 2, 0, 0}, {1, 2, 1, 0}, {}}}};
    case 3:
      return planar_yuv(depth, 1, 1);
    default:
      return planar_yuv(depth, in.ConsumeIntegralInRange<uint8_t>(0, 1),
                        in.ConsumeIntegralInRange<uint8_t>(0, 1));
  }
}

PictureInfo draw_info(FuzzedDataProvider& in) {
  PictureInfo info;
  info.format = draw_format(in);
  info.extent = {in.ConsumeIntegralInRange(1, kMaxPictureSide),
                 in.ConsumeIntegralInRange(1, kMaxPictureSide)};
  info.colour.range = in.ConsumeBool() ? Range::full : Range::limited;
  info.colour.matrix = static_cast<YuvMatrix>(in.ConsumeIntegralInRange(0, 2));
  info.colour.siting = static_cast<ChromaSiting>(in.ConsumeIntegralInRange(0, 2));
  info.orientation = {in.ConsumeBool(), in.ConsumeBool(), in.ConsumeBool()};
  return info;
}

/// A random picture. Each plane's block ends with its last row, so that the address sanitizer finds reads
/// beyond it.
struct Pixels {
  Pixels(const PictureInfo& info, uint32_t seed, bool bottom_up) {
    std::mt19937 random(seed);
    ref.info = info;
    for (int p = 0; p < info.format.plane_count; ++p) {
      const size_t row = info.plane_row_bytes(p), rows = static_cast<size_t>(info.plane_rows(p));
      auto& block = planes.emplace_back(row * rows);
      const uint32_t most = (1u << info.format.depth) - 1;
      if (info.format.depth > 8)
        for (size_t i = 0; i + 1 < block.size(); i += 2) {
          const uint32_t value = random() & most;
          block[i] = static_cast<uint8_t>(value), block[i + 1] = static_cast<uint8_t>(value >> 8);
        }
      else
        for (uint8_t& value : block) value = static_cast<uint8_t>(random() >> 7);
      const auto pitch = static_cast<std::ptrdiff_t>(row);
      ref.pitch_bytes[static_cast<size_t>(p)] = bottom_up ? -pitch : pitch;
      ref.planes[static_cast<size_t>(p)] = block.data() + (bottom_up ? row * (rows - 1) : 0);
    }
  }
  PictureRef ref;
  std::vector<std::vector<uint8_t>> planes;
};

class Run {
 public:
  Run(const GraphDesc& graph, const PictureInfo& info, int threads)
      : executor_(make_executor(Backend::cpu, {.threads = threads, .frames = 2}, profiler_, timeline_)) {
    executor_->install(make_plan(graph, info, Backend::cpu, registry()));
  }
  Plan& plan() { return *executor_->plan(); }

  std::vector<uint8_t> frame(const Pixels& pixels, int index, bool again = false) {
    FrameInfo info;
    info.index = index, info.pts_ns = int64_t{index} * 40'000'000;
    const Frame frame = executor_->run(Picture(pixels.ref, info, nullptr), again);
    const ImageRef image = frame.image();
    require(image.format == plan().output, "the output has {}×{} pixels, the plan {}×{}", image.width(),
            image.height(), plan().output.extent.width, plan().output.extent.height);
    std::vector<uint8_t> bytes;
    for (int y = 0; y < image.height(); ++y)
      bytes.insert(bytes.end(), image.row(y), image.row(y) + image.row_bytes());
    return bytes;
  }

 private:
  Profiler profiler_;
  Timeline timeline_;
  std::unique_ptr<Executor> executor_;
};

bool fits(const GraphDesc& graph, const PictureInfo& info) {
  try {
    const auto plan = make_plan(graph, info, Backend::cpu, registry());
    const auto output = plan->output.row_bytes() * static_cast<size_t>(plan->output.extent.height);
    return plan->unshared_bytes + plan->state_bytes + output < kMaxBytes;
  } catch (const Error& e) {
    require(e.code() == ExitCode::invalid_config, "planning fails with '{}'", e.what());
    return false;
  }
}

/// Sets all live parameters of one node to the same random values in both runs.
void change_params(const GraphDesc& graph, FuzzedDataProvider& in, Run& a, Run& b) {
  const NodeDesc& node = graph.nodes[in.ConsumeIntegralInRange<size_t>(0, graph.nodes.size() - 1)];
  for (const ParamSpec& spec : registry().find(node.filter)->schema().params) {
    if (spec.change != ParamChange::live) continue;
    const SetParam change{node.id, spec.name, draw(spec, in)};
    require(a.plan().set_param(change).kind == b.plan().set_param(change).kind,
            "one of two equal plans refuses {}", spec.name);
  }
}

}  // namespace
}  // namespace lensd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lensd;
  FuzzedDataProvider in(data, size);
  const PictureInfo info = draw_info(in);
  const bool bottom_up = in.ConsumeBool();
  const auto seed = in.ConsumeIntegral<uint32_t>();
  const GraphDesc graph = draw_graph(in);
  if (const auto problems = validate(graph, registry()); !problems.empty())
    require(false, "the graph is refused: {}", problems.front());
  if (!fits(graph, info)) return 0;
  Run one(graph, info, 1), three(graph, info, 3);
  for (int i = 0; i < kFrames; ++i) {
    const Pixels pixels(info, seed + static_cast<uint32_t>(i), bottom_up);
    const auto bytes = one.frame(pixels, i);
    require(bytes == three.frame(pixels, i), "{}: frame {} differs with three threads", to_chain(graph), i);
    require(bytes == one.frame(pixels, i, true), "{}: frame {} differs when it is repeated", to_chain(graph),
            i);
    if (i == 0) change_params(graph, in, one, three);
  }
  return 0;
}
