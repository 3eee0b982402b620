#include "app/viewer/sources/viewer_source.hpp"

#include <filesystem>
#include <utility>

#include "app/output_files.hpp"
#include "app/viewer/sources/playlist.hpp"
#include "core/base/error.hpp"
#include "core/base/text/source_text.hpp"
#include "core/media/media_folder.hpp"
#include "core/media/sound_player.hpp"
#include "core/media/url.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

OpenedPipeline expanded_list(const CommandLine& line, const std::vector<std::string>& sources) {
  OpenedPipeline opened;
  opened.list = expand_sources(sources);
  check_output_files(line, opened.list);
  return opened;
}

}  // namespace

LiveOptions live_options_for(const CommandLine& line, const std::string& url) {
  LiveOptions live = line.live;
  if (url == line.config.source_url) return live;
  live.format.clear(), live.extra.clear();
  live.size = {}, live.rate = 0;
  if (live.tls == TlsCheck::any) live.tls = TlsCheck::automatic;
  return live;
}

OpenedPipeline make_viewer_source(const ViewerSetup& setup, const OpenRequest& request,
                                  std::shared_ptr<const std::atomic<bool>> cancel) {
  const CommandLine& line = setup.line;
  if (!request.list.empty()) return expanded_list(line, request.list);
  check_output_files(line, {request.url});
  SourceOptions source_setup = source_options(line, setup.backend.backend);
  source_setup.live = request.live, source_setup.live.placeholders = true;
  source_setup.live.captions = false;  // the window shows the state over the picture
  source_setup.cancel = cancel.get();
  source_setup.live.audio = live_audio(line, playable_url(request.url));
  source_setup.or_best_track = !request.needs_track;
  if (request.video_track) source_setup.video_track = *request.video_track;
  if (!request.first) source_setup.start_ns = 0, source_setup.start_share = 0;
  if (source_setup.start_ns == 0 && source_setup.start_share == 0) source_setup.start_ns = request.start_ns;

  PipelineOptions options = pipeline_options(line, setup.backend.backend, setup.controlled ? 8 : 6);
  options.executor.host_frames = setup.host_frames;
  options.executor.timing_interval = setup.traced ? 1 : 8;
  options.graph = request.graph, options.precision = request.precision, options.colour = request.colour;
  options.paced = true, options.paused = request.paused || (request.first && line.pause);
  options.loop_file = request.loop_file;
  options.on_frame = setup.on_frame, options.on_change = setup.on_change;
  auto source = open_source(playable_url(request.url), source_setup);
  if (*cancel) throw Error(ExitCode::bad_source, display_url(request.url), "cancelled");
  options.sound = open_sound(playable_url(request.url), source->info(),
                             {.on = line.config.audio_on,
                              .volume = request.volume,
                              .muted = request.muted,
                              .track = line.config.audio_track,
                              .live = source_setup.live,
                              .output = {}});
  OpenedPipeline opened;
  std::error_code error;
  opened.path = full_path(request.url);
  opened.regular_file = fs::is_regular_file(request.url, error);
  opened.recorder = make_recorder(line, source->info());
  add_sinks(options, line, source->info(), opened.recorder, setup.virtual_camera);
  // The deleter owns a reference to the flag, because the source reads the flag until it is destroyed.
  opened.pipeline.reset(new Pipeline(std::move(source), options, registry()),
                        [cancel](Pipeline* pipeline) { delete pipeline; });
  if (request.speed != 1) opened.pipeline->post(SetSpeed{request.speed});
  return opened;
}

std::string full_path(const std::string& url) {
  std::error_code error;
  return fs::exists(url, error) ? plain_path(url) : std::string();
}

std::string folder_of(const std::string& url, const std::vector<std::string>& recent) {
  std::error_code ignored;
  std::vector<std::string> candidates{url};
  candidates.insert(candidates.end(), recent.begin(), recent.end());
  for (const std::string& candidate : candidates)
    if (may_be_path(candidate))
      return fs::absolute(candidate, ignored).lexically_normal().parent_path().string();
  return fs::current_path(ignored).string();
}

}  // namespace lensd
