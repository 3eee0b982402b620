#include "app/viewer/sources/pipeline_shutdown.hpp"

#include <exception>
#include <utility>

#include "core/base/log.hpp"

namespace lensd {

void PipelineShutdown::replace(OpenedPipeline old, std::shared_ptr<Pipeline> next) {
  if (!old.pipeline) {
    next->start();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(old), std::move(next)});
  }
  // If the queue of jobs is full, one of them has not begun yet. It will take this replacement too.
  jobs_.post([this] { run_waiting(); });
}

void PipelineShutdown::run_waiting() {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (waiting_.empty()) return;
    Replacement replacement = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      run(replacement);
    } catch (const std::exception& e) {  // such as a failed allocation
      log::warn("{}", e.what());
    }
  }
}

void PipelineShutdown::run(Replacement& replacement) {
  OpenedPipeline& old = replacement.old;
  old.pipeline->stop();
  // Finish the sinks before the pipeline is destroyed, because they read its frames, and before new sinks
  // start, which may use the same files.
  finish_sinks(old.pipeline->sinks());
  replacement.next->start();
  std::vector<Notice> notices = old.recorder->take_notices();
  old.pipeline.reset();
  for (Notice& notice : notices) notices_.add(notice.problem, std::move(notice.text));
}

}  // namespace lensd
