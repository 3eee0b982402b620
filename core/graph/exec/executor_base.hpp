// Functions that both executors share: swapping the current plan, resetting its state, reading its
// statistics, closing the executor.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/exec/bound_plan.hpp"

namespace lensd {

/// `ExecutorPlan` derives from BoundPlan.
template <class ExecutorPlan>
class ExecutorBase : public Executor {
 public:
  Plan* plan() final { return current_ ? current_->plan.get() : nullptr; }
  void reset_state() final {
    for (BoundNode& node : current_->nodes) node.state.reset_next();
  }
  std::vector<NodeStatistics> statistics() const final {
    const std::lock_guard lock(mutex_);
    return current_ ? current_->finished_stats->read() : std::vector<NodeStatistics>{};
  }
  bool read_scope(const ScopeRequest& scope, ScopeReading& reading) const final {
    const std::lock_guard lock(mutex_);
    return current_ && current_->finished_stats->read_scope(scope, reading);
  }
  void close() override {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (current_) current_->pool->close();
  }

 protected:
  explicit ExecutorBase(Profiler& profiler) : profiler_(profiler) {}

  /// Makes `plan`, an ExecutorPlan, the current plan and stores the previous one in it, or null. Changes
  /// nothing if it throws.
  void set_current(std::unique_ptr<PreparedPlan>& plan) {
    const BoundPlan& bound = static_cast<const ExecutorPlan&>(*plan);
    std::vector<Profiler::Scope> scopes;
    if (bound.upload_scope) scopes.push_back(bound.upload_scope);
    for (const BoundNode& node : bound.nodes)
      scopes.insert(scopes.end(), node.scopes.begin(), node.scopes.end());
    profiler_.activate(scopes, {"decode", "present", "encode", kLatencyRow});
    std::unique_ptr<ExecutorPlan> next(static_cast<ExecutorPlan*>(plan.release()));
    const std::lock_guard lock(mutex_);
    if (closed_) next->pool->close();
    std::swap(current_, next);
    plan = std::move(next);
  }

  Profiler& profiler_;
  std::unique_ptr<ExecutorPlan> current_;  ///< replaced under mutex_; run() reads it without the lock

 private:
  mutable std::mutex mutex_;  ///< never locked by run()
  bool closed_ = false;
};

std::unique_ptr<Executor> make_cuda_executor(const ExecutorOptions& options, Profiler& profiler,
                                             Timeline& timeline);

}  // namespace lensd
