// The CPU executor: passes one after another, each split into row bands on the workers.

#include <atomic>
#include <cstring>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/device/memory.hpp"
#include "core/graph/exec/executor_base.hpp"

namespace lensd {
namespace {

struct CpuPlan final : BoundPlan {
  MemoryBlock worker;
};

class CpuExecutor final : public ExecutorBase<CpuPlan> {
 public:
  CpuExecutor(const ExecutorOptions& options, Profiler& profiler, Timeline& timeline)
      : ExecutorBase(profiler),
        options_(options),
        timeline_(timeline),
        workers_(options.threads),
        track_(timeline.track("process thread")) {}

  std::unique_ptr<PreparedPlan> prepare(std::unique_ptr<Plan> plan) override {
    auto next = std::make_unique<CpuPlan>();
    next->worker =
        MemoryBlock(MemoryKind::host, plan->worker_bytes * static_cast<size_t>(workers_.threads()));
    bind_plan(*next, std::move(plan), MemoryKind::host, MemoryKind::host, options_.frames, profiler_,
              timeline_);
    std::memset(next->state.data(), 0, next->state.size());
    return next;
  }

  void swap_in(std::unique_ptr<PreparedPlan>& plan) override {
    auto& next = static_cast<CpuPlan&>(*plan);
    if (current_)
      for (const StateCopy& copy : carry_state_over(*current_, next))
        std::memcpy(next.state.data() + copy.to, current_->state.data() + copy.from, copy.bytes);
    set_current(plan);
  }

  Frame run(const Picture& picture, bool again) override {
    Frame frame = current_->pool->acquire();
    if (!frame) return frame;
    frame.info = picture.info;
    Plan& plan = *current_->plan;
    uint8_t* const stats = current_->pool->side_data(frame.slot());
    if (plan.stats_bytes > 0) std::memset(stats, 0, plan.stats_bytes);
    uint8_t* const blocks = plan.blocks.data();
    write_frame_blocks(current_->nodes, picture.info, again, blocks);
    bind_frame(current_->nodes,
               {current_->pool->images(frame.slot()), stats, blocks, blocks, &picture.planes});
    for (const BoundNode& node : current_->nodes) run_node(node, picture.info.index);
    if (closing_.load(std::memory_order_relaxed)) return {};  // the frame is incomplete
    current_->finished_stats->publish(picture.info.index, stats);
    frame.info.processed_ns = now_ns();
    return frame;
  }

  void close() override {
    closing_ = true;
    ExecutorBase::close();
  }

 private:
  struct PassContext {
    const CpuExecutor* self;
    const BoundNode* node;
    const PassSpec& pass;
  };

  static void run_band(void* opaque, Band band, int worker) {
    const auto& context = *static_cast<const PassContext*>(opaque);
    // After close(), skip the remaining bands: they may take seconds, and nobody uses the frame.
    if (context.self->closing_.load(std::memory_order_relaxed)) return;
    const CpuPlan& plan = *context.self->current_;
    PassArgs args = context.node->args;
    args.worker = plan.worker.data() + plan.plan->worker_bytes * static_cast<size_t>(worker);
    run_pass(*context.node->node->filter, context.pass, args, band);
  }

  void run_node(const BoundNode& node, int64_t frame) {
    const auto& passes = node.node->layout.passes;
    for (size_t i = 0; i < passes.size(); ++i) {
      PassContext context{this, &node, passes[i]};
      const int64_t begin = now_ns();
      workers_.run(passes[i].items, passes[i].grain, &run_band, &context);
      const int64_t end = now_ns();
      profiler_.record(node.scopes[i], end - begin);
      timeline_.record(track_, *node.labels[i], frame, begin, end);
    }
  }

  ExecutorOptions options_;
  Timeline& timeline_;
  Workers workers_;
  int track_;
  std::atomic<bool> closing_{false};
};

}  // namespace

std::unique_ptr<Executor> make_executor(Backend backend, const ExecutorOptions& options, Profiler& profiler,
                                        Timeline& timeline) {
  if (backend == Backend::cpu) return std::make_unique<CpuExecutor>(options, profiler, timeline);
#if LENSD_CUDA
  return make_cuda_executor(options, profiler, timeline);
#else
  throw Error(ExitCode::unavailable, "--backend=cuda", "this build has no CUDA backend", "use --backend=cpu");
#endif
}

}  // namespace lensd
