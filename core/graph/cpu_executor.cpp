// The CPU executor: passes one after another, each split into row bands on the workers.

#include <cstring>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/device/memory.hpp"
#include "core/graph/executor.hpp"
#include "core/graph/stats_board.hpp"

namespace lensd {
namespace {

/// A node as the executor runs it: every pointer resolved when the plan is installed.
struct Step {
  PlanNode* node = nullptr;
  PassArgs args;
  std::vector<ConstImageRef> in;
  std::vector<uint8_t*> scratch;
  std::vector<int> scopes, labels;
};

class CpuExecutor final : public Executor {
 public:
  CpuExecutor(const ExecutorOptions& options, Profiler& profiler, Timeline& timeline)
      : options_(options), profiler_(profiler), timeline_(timeline), workers_(options.threads), track_(timeline.track("cpu passes")) {}

  Backend backend() const override { return Backend::cpu; }
  Plan* plan() override { return plan_.get(); }

  void install(std::unique_ptr<Plan> plan) override {
    MemoryBlock arena(MemoryKind::host, plan->arena_bytes), state(MemoryKind::host, plan->state_bytes),
        stats(MemoryKind::host, plan->stats_bytes),
        worker(MemoryKind::host, plan->worker_bytes * static_cast<size_t>(workers_.threads()));
    auto pool = pool_ && pool_->format() == plan->output ? pool_
                                                         : FramePool::make(plan->output, MemoryKind::host, options_.frames);
    // From here on nothing throws but the profiler's table being full.
    std::vector<Step> steps = resolve(*plan, arena.data(), state.data(), stats.data());
    stats_board_.install(*plan);
    plan_ = std::move(plan), pool_ = std::move(pool), steps_ = std::move(steps);
    arena_ = std::move(arena), state_ = std::move(state), stats_ = std::move(stats), worker_ = std::move(worker);
    reset_state();
  }

  Frame run(const Picture& picture) override {
    Frame frame = pool_->acquire();
    if (!frame) return frame;
    frame.info = picture.info;
    if (stats_.size() > 0) std::memset(stats_.data(), 0, plan_->stats_bytes);
    for (Step& step : steps_) {
      step.args.picture = &picture.planes;
      if (step.node->writes_output) step.args.out = frame.image();
      run_step(step, picture.info.index);
    }
    stats_board_.publish(picture.info.index, stats_.data());
    frame.info.processed_ns = now_ns();
    return frame;
  }

  void reset_state() override { std::memset(state_.data(), 0, state_.size()); }
  std::vector<NodeStatistics> statistics() const override { return stats_board_.read(); }
  void close() override {
    if (pool_) pool_->close();
  }

 private:
  std::vector<Step> resolve(Plan& plan, uint8_t* arena, uint8_t* state, uint8_t* stats) {
    std::vector<Step> steps;
    std::vector<std::string> active;
    for (PlanNode& node : plan.nodes) {
      Step& step = steps.emplace_back();
      step.node = &node;
      for (const int input : node.inputs) {
        const PlanNode& from = plan.nodes[static_cast<size_t>(input)];
        step.in.push_back({arena + from.image_offset, from.pitch_bytes, from.layout.output});
      }
      for (const size_t offset : node.scratch_offsets) step.scratch.push_back(arena + offset);
      step.args.out = {arena + node.image_offset, node.pitch_bytes, node.layout.output};
      step.args.block = step.args.host_block = plan.blocks.data() + node.block_offset;
      step.args.state = state + node.state_offset, step.args.stats = stats + node.stats_offset;
      for (const PassSpec& pass : node.layout.passes) {
        step.scopes.push_back(profiler_.scope(node.id, pass.name, pass.bytes, pass.operations));
        step.labels.push_back(timeline_.label(node.id + "/" + pass.name));
      }
      active.push_back(node.id);
    }
    for (Step& step : steps) step.args.in = step.in, step.args.scratch = step.scratch;  // vectors stay put now
    for (const char* stage : {"decode", "upload", "download", "present", "encode"}) active.emplace_back(stage);
    profiler_.deactivate_all_but(active);
    return steps;
  }

  struct PassContext {
    const CpuExecutor* self;
    const Step* step;
    int pass;
  };

  static void run_band(void* opaque, Band band, int worker) {
    const auto& context = *static_cast<const PassContext*>(opaque);
    PassArgs args = context.step->args;
    args.pass = context.pass;
    args.worker = context.self->worker_.data() + context.self->plan_->worker_bytes * static_cast<size_t>(worker);
    context.step->node->filter->run(args, band);
  }

  void run_step(const Step& step, int64_t frame) {
    const auto& passes = step.node->layout.passes;
    for (size_t i = 0; i < passes.size(); ++i) {
      PassContext context{this, &step, static_cast<int>(i)};
      const int64_t begin = now_ns();
      workers_.run(passes[i].items, passes[i].grain, &run_band, &context);
      const int64_t end = now_ns();
      profiler_.record(step.scopes[i], end - begin);
      timeline_.record(track_, step.labels[i], frame, begin, end);
    }
  }

  ExecutorOptions options_;
  Profiler& profiler_;
  Timeline& timeline_;
  Workers workers_;
  int track_;
  std::unique_ptr<Plan> plan_;
  std::shared_ptr<FramePool> pool_;
  std::vector<Step> steps_;
  MemoryBlock arena_, state_, stats_, worker_;
  StatsBoard stats_board_;
};

}  // namespace

std::unique_ptr<Executor> make_cpu_executor(const ExecutorOptions& options, Profiler& profiler, Timeline& timeline) {
  return std::make_unique<CpuExecutor>(options, profiler, timeline);
}

#if !LENSD_CUDA
std::unique_ptr<Executor> make_cuda_executor(const ExecutorOptions&, Profiler&, Timeline&) {
  throw Error(ExitCode::unavailable, "--backend=cuda", "this build has no CUDA backend", "use --backend=cpu");
}
#endif

std::unique_ptr<Executor> make_executor(Backend backend, const ExecutorOptions& options, Profiler& profiler, Timeline& timeline) {
  return backend == Backend::cuda ? make_cuda_executor(options, profiler, timeline)
                                  : make_cpu_executor(options, profiler, timeline);
}

}  // namespace lensd
