// Chooses the source of a run, the options of decoder and pipeline, and the sinks.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/run.hpp"
#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"
#include "core/device/memory.hpp"
#include "core/media/cameras.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

/// A moving test picture with edges and fine texture, for filters and trackers.
constexpr const char* kDemo = "test:mandelbrot=size=960x540:rate=30:start_scale=1.2:end_pts=900:maxiter=400";

constexpr const char* kDemoName = "test:demo";

}  // namespace

std::string first_camera() {
  return choose_camera(
      list_cameras(), [](const std::string& path) { return camera_obstacle(path).empty(); },
      [] { return survey_pipewire().nodes; });
}

std::string source_url(const CommandLine& line) {
  if (line.config.source_url.empty() && line.mode == RunMode::viewer)
    if (std::string camera = first_camera(); !camera.empty()) return camera;
  return playable_url(line.config.source_url.empty() ? kDemoName : line.config.source_url);
}

std::string no_camera_reason() {
  constexpr int kMaxDevices = 64;
  const std::vector<Camera> cameras = list_cameras();
  const auto playable = [](const Camera& camera) { return !camera.raw && camera.readable(); };
  if (std::ranges::none_of(cameras, playable)) {
    if (std::ranges::any_of(cameras, &Camera::raw)) return kOnlyRawNodes;
    if (!cameras.empty()) return fmt::format("{}: lensd reads none of its formats", cameras.front().path);
  }
  std::error_code ignored;
  for (int number = 0; number < kMaxDevices; ++number)
    if (const std::string path = fmt::format("/dev/video{}", number); std::filesystem::exists(path, ignored))
      if (const std::string obstacle = camera_obstacle(path); !obstacle.empty())
        return fmt::format("{}: {}", path, obstacle);
  return "No camera found";
}

std::string playable_url(const std::string& url) {
  return url == kDemoName ? kDemo : url;
}

SourceOptions source_options(const CommandLine& line, Backend backend) {
  const std::string& wanted = line.config.hwdec;
  const HwDecode hwdec = wanted == "cuda"   ? HwDecode::cuda
                         : wanted == "auto" ? HwDecode::automatic
                                            : HwDecode::off;
  if (hwdec == HwDecode::cuda && backend == Backend::cpu)
    throw Error(ExitCode::unavailable, "--hwdec=cuda",
                "decoded frames stay on the GPU, which needs the CUDA backend",
                "use --hwdec=auto or --hwdec=no");
  SourceOptions options;
  options.hwdec = backend == Backend::cuda ? hwdec : HwDecode::off;
  options.device = line.config.device;
  const StartPosition start = line.start.value_or(StartPosition{});
  options.start_ns = static_cast<int64_t>(start.seconds * 1e9), options.start_share = start.share;
  options.pinned = backend == Backend::cuda;
  if (options.pinned) use_pinned_memory(options.device);
  options.keep_colours = line.config.colour_hdr == "keep";
  options.video_track = line.config.source_video_track;
  options.live = line.live;
  // A batch run fails if its source does not open, and its output must not contain placeholders.
  options.live.must_open = line.mode == RunMode::batch;
  options.live.placeholders = line.mode != RunMode::batch;
  return options;
}

PipelineOptions pipeline_options(const CommandLine& line, Backend backend, int frames) {
  PipelineOptions options;
  options.backend = backend;
  options.cpu_if_memory_short = line.config.backend == BackendRequest::automatic;
  options.executor = {.threads = line.config.threads,
                      .device = line.config.device,
                      .host_frames = true,
                      .frames = frames,
                      .timing_interval = line.trace.empty() ? 8 : 1};
  options.precision = line.config.precision, options.colour = line.config.colour;
  options.loop_file = line.loop_file, options.max_frames = line.frames;
  return options;
}

std::string playback_obstacle(const CommandLine& line, const SourceInfo& source) {
  if (line.loop_file && !source.seekable)
    return fmt::format("{}: this source cannot seek, so --loop-file has no effect", source.name);
  if (line.speed != 1 && source.live)
    return fmt::format("{}: the speed of a live source is fixed, so --speed has no effect", source.name);
  return {};
}

std::string controls_obstacle(const CommandLine& line, const std::string& url) {
  const UrlKind kind = classify(url);
  if (kind == UrlKind::camera || line.config.source_controls.empty()) return {};
  // The viewer uses one configuration for files and cameras. Without SOURCE, a camera that is plugged in
  // later gets the controls.
  const bool for_cameras = line.source_controls.empty() || line.config.source_url.empty();
  if (line.mode == RunMode::viewer && for_cameras) return {};
  return fmt::format("{}: this source has no controls, so {} has no effect", display_url(url),
                     line.source_controls.empty() ? "[source.controls]" : "--source-control");
}

AudioChoice audio_choice(const CommandLine& line) {
  return {.on = line.config.audio_on, .track = line.config.audio_track};
}

std::shared_ptr<LiveAudio> live_audio(const CommandLine& line, const std::string& url) {
  if (!line.config.audio_on || classify(url) != UrlKind::network) return nullptr;
  return std::make_shared<LiveAudio>(line.config.audio_track);
}

std::shared_ptr<RecorderSink> make_recorder(const CommandLine& line, const SourceInfo& source) {
  for (const std::string& path : {line.record, line.recording.name})
    if (!path.empty()) recording_muxer(path);
  RecordSettings settings = line.recording;
  settings.no_timeouts = line.mode == RunMode::batch;
  settings.encoder.hdr = source.hdr;
  return std::make_shared<RecorderSink>(settings, source, audio_choice(line));
}

std::shared_ptr<StreamSink> make_stream(const CommandLine& line, const SourceInfo& source) {
  if (line.config.output_url.empty()) return nullptr;
  EncoderOptions encoder = line.stream;
  encoder.hdr = source.hdr;
  return std::make_shared<StreamSink>(line.config.output_url, encoder, source, audio_choice(line),
                                      tls_check(line.config.output_tls));
}

std::shared_ptr<VirtualCamera> make_virtual_camera(const CommandLine& line) {
  auto camera = std::make_shared<VirtualCamera>(line.config.output_dither);
  if (!line.config.output_virtual_camera.empty()) camera->start(line.config.output_virtual_camera);
  return camera;
}

void add_sinks(PipelineOptions& options, const CommandLine& line, const SourceInfo& source,
               std::shared_ptr<RecorderSink> recorder, std::shared_ptr<VirtualCamera> camera) {
  options.sinks.push_back(std::move(recorder));
  if (auto stream = make_stream(line, source)) options.sinks.push_back(std::move(stream));
  options.executor.frames += kFramesForSinks * static_cast<int>(options.sinks.size());
  options.sinks.push_back(std::make_shared<VirtualCameraSink>(std::move(camera), source));
  options.executor.frames += kFramesForCamera;
}

StartRecord record_command(const CommandLine& line, bool again) {
  // A pipe has no content to lose. check_existing_files() has already refused existing files in batch runs,
  // but another program may have created a file since.
  const bool replace = (!again && line.overwrite) || is_special_file(line.record);
  return {.path = line.record, .overwrite = replace, .next_free = !replace, .beneath = {}};
}

}  // namespace lensd
