#include "app/viewer/sources/pipeline_shutdown.hpp"

#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/source_text.hpp"
#include "kernels/registry.hpp"

namespace lensd {

LiveOptions live_options_for(const CommandLine& line, const std::string& url) {
  LiveOptions live = line.live;
  if (url == line.source) return live;
  live.format.clear(), live.extra.clear();
  live.size = {}, live.rate = 0;
  return live;
}

OpenedPipeline make_viewer_source(const ViewerSetup& setup, const OpenRequest& request,
                                  std::shared_ptr<const std::atomic<bool>> cancel) {
  const CommandLine& line = setup.line;
  SourceOptions source_wish = source_options(line, setup.backend.backend);
  source_wish.live = request.live, source_wish.live.placeholders = true;
  source_wish.cancel = cancel.get();
  if (!request.first) source_wish.start_ns = 0;

  PipelineOptions options;
  options.backend = setup.backend.backend;
  options.executor = {.threads = line.threads,
                      .device = line.device,
                      .host_frames = setup.host_frames,
                      .frames = 6 + kFramesForSinks + (setup.controlled ? 2 : 0),
                      .timing_interval = setup.traced ? 1 : 8};
  options.graph = request.graph;
  options.paced = true, options.paused = request.first && line.pause, options.loop_file = request.loop_file;
  options.on_frame = setup.on_frame, options.on_change = setup.on_change;
  auto source = open_source(playable_url(request.url), source_wish);
  if (*cancel) throw Error(ExitCode::bad_source, request.url, "given up");
  OpenedPipeline made;
  made.recorder = make_recorder(line, source->info());
  options.sinks = {made.recorder};
  if (auto stream = make_stream(line, source->info())) options.sinks.push_back(std::move(stream));
  options.executor.frames += kFramesForSinks * static_cast<int>(options.sinks.size() - 1);
  // The source looks at the flag as long as it lives.
  made.pipeline.reset(new Pipeline(std::move(source), options, registry()),
                      [cancel](Pipeline* pipeline) { delete pipeline; });
  if (request.speed != 1) made.pipeline->post(SetSpeed{request.speed});
  if (request.loop_file) made.pipeline->post(SetLoop{.file = true});
  return made;
}

std::string folder_of(const std::string& url, const std::vector<std::string>& recent) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<std::string> candidates{url};
  candidates.insert(candidates.end(), recent.begin(), recent.end());
  for (const std::string& candidate : candidates)
    if (may_be_path(candidate)) return fs::absolute(candidate, ignored).parent_path().string();
  return fs::current_path(ignored).string();
}

void PipelineShutdown::replace(OpenedPipeline old, std::shared_ptr<Pipeline> next) {
  if (!old.pipeline) return next->start();
  auto job = [this, old = std::make_shared<OpenedPipeline>(std::move(old)), next] {
    old->pipeline->stop();
    // While the frames that they still have can be read, and before the new ones write to the same places.
    for (const auto& sink : old->pipeline->sinks())
      if (auto* queue = dynamic_cast<QueueSink*>(sink.get())) queue->finish();
    next->start();
    std::vector<SinkNotice> told = old->recorder->take_notices();
    old->pipeline.reset();
    const std::lock_guard lock(mutex_);
    for (SinkNotice& notice : told) notices_.push_back(std::move(notice));
  };
  // More sources than the queue takes were chosen while the disk stands still.
  while (!jobs_.post(job)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

std::vector<SinkNotice> PipelineShutdown::take_notices() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notices_, {});
}

}  // namespace lensd
