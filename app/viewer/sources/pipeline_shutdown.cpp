#include "app/viewer/sources/pipeline_shutdown.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace lensd {

void PipelineShutdown::replace(OpenedPipeline old, std::shared_ptr<Pipeline> next) {
  if (!old.pipeline) return next->start();
  auto job = [this, old = std::make_shared<OpenedPipeline>(std::move(old)), next] {
    old->pipeline->stop();
    // Finish the sinks before the pipeline is destroyed, because they read its frames, and before new sinks
    // start, which may use the same files.
    finish_sinks(old->pipeline->sinks());
    next->start();
    std::vector<Notice> notices = old->recorder->take_notices();
    old->pipeline.reset();
    for (Notice& notice : notices) notices_.add(notice.problem, std::move(notice.text));
  };
  // Wait while the queue is full, for example if many sources were opened while the disk hangs.
  while (!jobs_.post(job)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace lensd
