// Which source runs, how its decoder is set up, and what records it.

#include "app/run.hpp"
#include "core/base/error.hpp"
#include "core/device/memory.hpp"
#include "core/media/cameras.hpp"

namespace lensd {
namespace {

/// Moving content with edges and fine texture: worth filtering and worth tracking.
constexpr const char* kDemo = "test:mandelbrot=size=960x540:rate=30:start_scale=1.2:end_pts=900:maxiter=400";

constexpr const char* kDemoName = "test:demo";

}  // namespace

std::string source_url(const CommandLine& line) {
  if (line.source.empty() && line.mode == RunMode::viewer)
    for (const Camera& camera : list_cameras())
      if (!camera.formats.empty() && camera_obstacle(camera.path).empty()) return camera.path;
  return playable_url(line.source.empty() ? kDemoName : line.source);
}

std::string playable_url(const std::string& url) {
  return url == kDemoName ? kDemo : url;
}

SourceOptions source_options(const CommandLine& line, Backend backend) {
  if (line.hwdec == HwDecode::cuda && backend == Backend::cpu)
    throw Error(ExitCode::unavailable, "--hwdec=cuda",
                "decoded frames stay on the GPU, which needs the CUDA backend", "use --hwdec=auto, or no");
  SourceOptions options;
  options.hwdec = backend == Backend::cuda ? line.hwdec : HwDecode::off;
  options.device = line.device;
  options.start_ns = static_cast<int64_t>(line.start_s * 1e9);
  options.pinned = backend == Backend::cuda;
  if (options.pinned) use_pinned_memory();
  options.live = line.live;
  // A batch run without its source has nothing to do, and its output has no use for pictures that say so.
  options.live.must_open = line.mode == RunMode::batch;
  options.live.placeholders = line.mode != RunMode::batch;
  return options;
}

std::shared_ptr<RecorderSink> make_recorder(const CommandLine& line, const SourceInfo& source) {
  for (const std::string& path : {line.record, line.recording.name})
    if (!path.empty()) recording_muxer(path);
  return std::make_shared<RecorderSink>(line.recording, source);
}

std::shared_ptr<StreamSink> make_stream(const CommandLine& line, const SourceInfo& source) {
  if (line.output_url.empty()) return nullptr;
  return std::make_shared<StreamSink>(line.output_url, line.stream, source);
}

StartRecord record_command(const CommandLine& line) {
  return {.path = line.record, .overwrite = true, .beneath = {}};
}

}  // namespace lensd
