// The CPU executor: passes one after another, each split into row bands on the workers.

#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/device/memory.hpp"
#include "core/graph/exec/bound_nodes.hpp"
#include "core/graph/exec/executor.hpp"
#include "core/graph/exec/stats_board.hpp"

namespace lensd {
namespace {

struct CpuPlan final : PreparedPlan {
  std::shared_ptr<FramePool> pool;
  std::vector<BoundNode> steps;
  MemoryBlock arena, state, worker;
  std::shared_ptr<StatsBuffer> finished_stats;
};

class CpuExecutor final : public Executor {
 public:
  CpuExecutor(const ExecutorOptions& options, Profiler& profiler, Timeline& timeline)
      : options_(options),
        profiler_(profiler),
        timeline_(timeline),
        workers_(options.threads),
        track_(timeline.track("process thread")) {}

  Backend backend() const override { return Backend::cpu; }
  Plan* plan() override { return now_ ? now_->plan.get() : nullptr; }

  std::unique_ptr<PreparedPlan> prepare(std::unique_ptr<Plan> plan) override {
    auto next = std::make_unique<CpuPlan>();
    next->arena = MemoryBlock(MemoryKind::host, plan->arena_bytes);
    next->state = MemoryBlock(MemoryKind::host, plan->state_bytes);
    next->worker =
        MemoryBlock(MemoryKind::host, plan->worker_bytes * static_cast<size_t>(workers_.threads()));
    std::memset(next->state.data(), 0, next->state.size());
    next->pool = FramePool::make({.images = plan->frame_images,
                                  .kind = MemoryKind::host,
                                  .capacity = options_.frames,
                                  .side_bytes = plan->stats_bytes,
                                  .tracks_offset = plan->tracks_offset,
                                  .views = plan->views});
    next->finished_stats = std::make_shared<StatsBuffer>(*plan);
    next->steps = bind_nodes(*plan, {next->arena.data(), next->state.data()}, profiler_, timeline_, false);
    next->plan = std::move(plan);
    return next;
  }

  std::unique_ptr<PreparedPlan> swap_in(std::unique_ptr<PreparedPlan> prepared) override {
    std::unique_ptr<CpuPlan> next(static_cast<CpuPlan*>(prepared.release()));
    stats_board_.install(next->finished_stats);
    profiler_.deactivate_all_but(active_rows(*next->plan));
    if (now_)
      for (const StateCopy& copy : carry_over(now_->steps, next->steps))
        std::memcpy(next->state.data() + copy.to, now_->state.data() + copy.from, copy.bytes);
    {
      const std::lock_guard lock(close_mutex_);
      if (closed_) next->pool->close();
      std::swap(now_, next);
    }
    return next;
  }

  Frame run(const Picture& picture, bool again) override {
    Frame frame = now_->pool->acquire();
    if (!frame) return frame;
    frame.info = picture.info;
    Plan& plan = *now_->plan;
    uint8_t* const stats = now_->pool->side_data(frame.slot());
    if (plan.stats_bytes > 0) std::memset(stats, 0, plan.stats_bytes);
    uint8_t* const blocks = plan.blocks.data();
    tick(now_->steps, picture.info, again, blocks);
    point_at(now_->steps, {now_->pool->images(frame.slot()), stats, blocks, blocks, &picture.planes});
    for (const BoundNode& step : now_->steps) run_step(step, picture.info.index);
    if (closing_.load(std::memory_order_relaxed)) return {};  // made in part
    now_->finished_stats->publish(picture.info.index, stats);
    frame.info.processed_ns = now_ns();
    return frame;
  }

  void reset_state() override {
    for (BoundNode& step : now_->steps) step.clock.cut();
  }
  std::vector<NodeStatistics> statistics() const override { return stats_board_.read(); }
  bool read_scope(const ScopeRequest& scope, ScopeReading& reading) const override {
    return stats_board_.read_scope(scope, reading);
  }
  void close() override {
    closing_ = true;
    const std::lock_guard lock(close_mutex_);
    closed_ = true;
    if (now_) now_->pool->close();
  }

 private:
  struct PassContext {
    const CpuExecutor* self;
    const BoundNode* step;
    size_t pass;
  };

  static void run_band(void* opaque, Band band, int worker) {
    const auto& context = *static_cast<const PassContext*>(opaque);
    // A frame may take seconds; nobody waits for it any more.
    if (context.self->closing_.load(std::memory_order_relaxed)) return;
    PassArgs args = context.step->args;
    args.worker = context.self->now_->worker.data() +
                  context.self->now_->plan->worker_bytes * static_cast<size_t>(worker);
    run_pass(*context.step->node->filter, context.step->node->layout, context.pass, args, band);
  }

  void run_step(const BoundNode& step, int64_t frame) {
    const auto& passes = step.node->layout.passes;
    for (size_t i = 0; i < passes.size(); ++i) {
      PassContext context{this, &step, i};
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
  std::unique_ptr<CpuPlan> now_;
  std::mutex close_mutex_;  ///< close() may come from any thread; run() never takes it
  bool closed_ = false;
  std::atomic<bool> closing_{false};
  StatsBoard stats_board_;
};

}  // namespace

std::unique_ptr<Executor> make_cpu_executor(const ExecutorOptions& options, Profiler& profiler,
                                            Timeline& timeline) {
  return std::make_unique<CpuExecutor>(options, profiler, timeline);
}

#if !LENSD_CUDA
std::unique_ptr<Executor> make_cuda_executor(const ExecutorOptions&, Profiler&, Timeline&) {
  throw Error(ExitCode::unavailable, "--backend=cuda", "this build has no CUDA backend", "use --backend=cpu");
}
#endif

std::unique_ptr<Executor> make_executor(Backend backend, const ExecutorOptions& options, Profiler& profiler,
                                        Timeline& timeline) {
  return backend == Backend::cuda ? make_cuda_executor(options, profiler, timeline)
                                  : make_cpu_executor(options, profiler, timeline);
}

}  // namespace lensd
