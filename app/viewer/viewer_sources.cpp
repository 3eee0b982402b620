#include "app/viewer/viewer.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/text/source_text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/media/url.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

std::string chosen_track(const ui::ViewerModel& model) {
  const auto index = static_cast<size_t>(model.video_track - 1);
  return index < model.video_tracks.size() ? model.video_tracks[index] : std::string();
}

}  // namespace

ViewerSetup Viewer::setup() const {
  return {.line = line_,
          .backend = backend_,
          .virtual_camera = virtual_camera_,
          .host_frames = display_.kind == ui::DisplayKind::pixel_buffer,
          .controlled = control_ != nullptr,
          .traced = !line_.trace.empty() || trace_trigger_.any(),
          .on_frame = [] { ui::Window::wake(); },
          .on_change =
              [control = control_.get()] {
                if (control) control->changed();
              }};
}

/// Returns `live` with the control values that the user has set in this run and in earlier ones.
LiveOptions Viewer::remembered(LiveOptions live) const {
  live.kept_controls = memory_.kept_controls();
  return live;
}

void Viewer::open_first(const GraphDesc& graph) {
  const auto own = std::make_shared<const ViewerSetup>(setup());
  opener_ = std::make_unique<SourceOpener>(
      [own](const OpenRequest& request, std::shared_ptr<const std::atomic<bool>> cancel) {
        return make_viewer_source(*own, request, std::move(cancel));
      },
      [] { ui::Window::wake(); });
  std::vector<std::string> sources = line_.more_sources;
  sources.insert(sources.begin(), line_.config.source_url);
  std::vector<std::string> files;
  if (!line_.config.source_url.empty()) files = expand_sources(sources);
  const bool several = files.size() > 1 || (files.size() == 1 && files.front() != sources.front());
  std::string url = several ? files.front() : source_url(line_);
  if (!files.empty()) playlist_.set(std::move(files));
  OpenRequest request{.url = url,
                      .live = remembered(line_.live),
                      .graph = graph,
                      .precision = line_.config.precision,
                      .colour = line_.config.colour,
                      .first = true,
                      .needs_track = !several,
                      .remember = !line_.config.source_url.empty(),
                      .loop_file = line_.loop_file,
                      .speed = line_.speed,
                      .volume = memory_.volume(line_.config),
                      .muted = memory_.muted(line_.config),
                      .start_ns = line_.start ? 0 : kept_position(url),
                      .done = {}};
  std::vector<std::string> problems;
  OpenedPipeline opened;
  while (!opened.pipeline) {
    try {
      opened = make_viewer_source(*own, request, std::make_shared<std::atomic<bool>>(false));
    } catch (const Error& e) {
      const auto next = several && e.code() == ExitCode::bad_source ? playlist_.step(1) : std::nullopt;
      if (!next) throw;
      log::warn("{}", problems.emplace_back(e.what()));
      request.url = url = *next, request.live = remembered(live_options_for(line_, url));
      request.start_ns = line_.start ? 0 : kept_position(url);
    }
  }
  if (!line_.record.empty()) {
    record_sent_ = record_command(line_);
    record_ticket_ = opened.pipeline->post(*record_sent_);
  }
  install(request, std::move(opened));
  playlist_.opened();
  automatic_ = several;
  for (std::string& problem : problems) model_->notice(true, std::move(problem));
  if (!line_.config.source_url.empty() || request.url != playable_url("test:demo")) return;
  model_->model().demo = true;
  model_->notice(false,
                 fmt::format("{}. Showing a test picture; a camera that is plugged in opens by itself.",
                             no_camera_reason()));
  camera_wait_ = std::make_unique<CameraWait>(first_camera, [] { ui::Window::wake(); });
}

OpenDone Viewer::notice_if_failed() {
  return [this](OpenResult result, const std::string& problem) {
    if (result == OpenResult::failed) model_->notice(true, problem);
  };
}

void Viewer::open_found_camera() {
  if (!camera_wait_) return;
  if (source_chosen_) return camera_wait_.reset();
  if (!opener_->opening().empty()) return;
  OpenRequest request;
  request.url = camera_wait_->take();
  if (request.url.empty()) return;
  camera_wait_.reset();
  request.live = remembered(line_.live);
  request.done = notice_if_failed();
  open_aside(std::move(request), ui_.state().editor.graph());
}

void Viewer::open_listed(const std::optional<std::string>& source, int pass_over) {
  if (source) open_url(*source, ui::source_request(*source), pass_over);
}

void Viewer::skip_failed(const std::string& problem, int by) {
  model_->notice(true, problem);
  const auto next = playlist_.step(by);
  if (!next && !picture_seen_) throw Error(ExitCode::bad_source, "", problem);
  open_listed(next, by);
}

void Viewer::open_all(std::vector<std::string> sources) {
  OpenRequest request;
  request.url = sources.front(), request.list = std::move(sources);
  request.done = notice_if_failed();
  opener_->open(std::move(request));
}

void Viewer::open_list(const std::vector<std::string>& given, std::vector<std::string> sources) {
  if (is_one_file(given, sources)) {
    playlist_.insert(sources.front());
    return open_listed(sources.front());
  }
  playlist_.set(std::move(sources));
  open_listed(playlist_.select(0), 1);
}

void Viewer::advance_playlist() {
  // While the user holds the seek bar at its end, keep showing the end of this source.
  if (ui_.state().seek_held) return;
  const bool over = source_over();
  if (!over || !opener_->opening().empty()) {
    end_seen_ = end_seen_ && over;
    return;
  }
  if (!std::exchange(end_seen_, true)) return open_listed(playlist_.step(1), 1);
  quit_ = quit_ || line_.frames > 0;
}

bool Viewer::source_over() const {
  const PipelineStatus status = pipeline_->status();
  if (line_.frames > 0) return source_failed_ || (status.ended && !status.paused);
  const SourceInfo& source = pipeline_->source();
  // A still picture stays until the user chooses another source.
  return status.ended && !status.paused && !source.live && !source.image;
}

void Viewer::keep_position() {
  if (!pipeline_ || current_file_.empty() || source_failed_) return;
  // Use the status, because the model's position is not updated while the window is hidden.
  const PipelineStatus status = pipeline_->status();
  if (status.processed == 0) return;
  const int64_t duration_ns = pipeline_->source().duration_ns;
  const bool watched = status.ended && line_.frames == 0;  // --frames may end playback early
  memory_.keep_position(current_file_, watched ? duration_ns : status.position_ns, duration_ns);
}

int64_t Viewer::kept_position(const std::string& url) const {
  return line_.no_resume ? 0 : memory_.position_of(url);
}

void Viewer::open_aside(OpenRequest request, GraphDesc graph) {
  request.graph = std::move(graph), request.precision = model_->model().precision;
  request.colour = model_->model().colour;
  request.loop_file = model_->model().loop_file, request.speed = model_->model().speed;
  request.volume = model_->model().volume, request.muted = model_->model().muted;
  opener_->open(std::move(request));
}

void Viewer::open_chosen(const ui::SourceRequest& chosen) {
  playlist_.insert(chosen.text);
  open_url(chosen.text, chosen);
}

void Viewer::open_url(const std::string& url, const ui::SourceRequest& chosen, int pass_over) {
  OpenRequest request;
  request.url = url;
  request.live = remembered(live_options_for(line_, request.url));
  request.live.must_open = !chosen.wait;
  if (!chosen.format.empty()) request.live.format = chosen.format;
  if (chosen.size.width > 0) request.live.size = chosen.size;
  if (chosen.rate > 0) request.live.rate = chosen.rate;
  request.remember = true;
  keep_position();  // the request may be for the current file, which then continues here
  request.start_ns = kept_position(request.url);
  request.done = [this, url, chosen, pass_over](OpenResult result, const std::string& problem) {
    if (result == OpenResult::playing) automatic_ = pass_over > 0;
    if (result != OpenResult::failed) return;
    if (pass_over != 0) return skip_failed(problem, pass_over);
    ui::SourceProgress& p = progress_;
    ++p.failures;
    p.problem = problem, p.failed = chosen;
    p.may_wait = !chosen.wait && !may_be_path(url) && is_live(classify(url));  // do not access files here
    // The source dialog shows the problem itself.
    ui_.state().source.open ? log::warn("{}", problem) : model_->notice(true, problem);
  };
  open_aside(std::move(request), ui_.state().editor.graph());
}

void Viewer::choose_video_track(int track) {
  const ui::ViewerModel& m = model_->model();
  if (source_failed_ || track == m.video_track) return;
  playlist_.revert();  // this request cancels one that may have chosen another source or list
  OpenRequest request;
  request.url = current_url_, request.live = remembered(live_options_for(line_, current_url_));
  request.video_track = track, request.paused = m.paused;
  request.start_ns = m.seekable ? m.position_ns : 0;
  request.done = notice_if_failed();
  open_aside(std::move(request), ui_.state().editor.graph());
}

void Viewer::install_opened() {
  auto finished = opener_->take();
  if (!finished) return;
  const auto done = std::move(finished->request.done);
  if (!finished->problem.empty()) {
    if (done) done(OpenResult::failed, finished->problem);
    if (opener_->opening().empty()) playlist_.revert();
    return;
  }
  if (!finished->opened.list.empty())
    return open_list(finished->request.list, std::move(finished->opened.list));
  install(finished->request, std::move(finished->opened));
  playlist_.playing(finished->request.url);
  if (done) done(OpenResult::playing, {});
}

std::vector<Command> Viewer::settings_since(const OpenRequest& request) const {
  std::vector<Command> changes;
  if (request.first) return changes;
  const ui::ViewerModel& m = model_->model();
  if (m.precision != request.precision) changes.emplace_back(SetPrecision{m.precision});
  if (m.colour != request.colour) changes.emplace_back(SetColour{m.colour});
  if (m.loop_file != request.loop_file) changes.emplace_back(SetFileLoop{m.loop_file});
  // A change of the video track keeps the A-B loop and the pause.
  if (request.video_track && m.loop_a_ns >= 0)
    changes.emplace_back(SetLoop{m.loop_file, m.loop_a_ns, m.loop_b_ns});
  if (const bool paused = pipeline_->status().paused; request.video_track && paused != request.paused)
    changes.emplace_back(Pause{paused});
  if (m.speed != request.speed) changes.emplace_back(SetSpeed{m.speed});
  if (m.volume != request.volume) changes.emplace_back(SetVolume{m.volume});
  if (m.muted != request.muted) changes.emplace_back(SetMute{m.muted});
  return changes;
}

void Viewer::install(const OpenRequest& request, OpenedPipeline opened) {
  keep_position();
  const std::vector<Command> settings = settings_since(request);
  const std::optional<StartRecord> recording = pipeline_ ? requested_recording() : std::nullopt;
  const bool loop_file = request.first ? request.loop_file : model_->model().loop_file;
  std::vector<ui::Notice> notices;
  if (model_) notices = std::move(model_->model().notices);
  current_url_ = request.url, end_seen_ = false;
  current_file_ = opened.regular_file ? opened.path : "";
  OpenedPipeline old = detach_pipeline();
  pipeline_ = std::move(opened.pipeline), recorder_ = std::move(opened.recorder);
  attach_pipeline();
  source_chosen_ = !request.first, source_failed_ = false;
  model_->model().notices = std::move(notices), model_->model().loop_file = loop_file;
  model_->model().opened_with = request.graph;
  describe_source(request, opened.path);
  post(settings);
  if (!request.first) record_sent_.reset(), record_ticket_ = 0;
  if (recording) report_failure("record", [&] { continue_recording(*recording); });
  shutdown_.replace(std::move(old), pipeline_);
}

OpenedPipeline Viewer::detach_pipeline() {
  outbox_.clear();
  shown_.reset();
  tracks_.clear();
  presenter_.reset();
  flight_recorder_.reset();
  watch_.reset();
  return {std::move(pipeline_), std::move(recorder_)};
}

void Viewer::attach_pipeline() {
  if (control_) control_->attach(pipeline_, current_url_);
  const BackendChoice backend = pipeline_->backend(backend_);
  pipeline_display_ =
      backend.backend == backend_.backend ? display_ : ui::choose_display_path(backend.backend);
  if (machine_speed_->backend() != backend.backend)
    machine_speed_.emplace(backend.backend, line_.config.device, line_.config.threads);
  DeviceFrameSync* const sync = pipeline_->executor().device_sync();
  presenter_ = std::make_unique<ui::Presenter>(ui::make_display_path(pipeline_display_.kind, sync),
                                               ui::make_display_path(pipeline_display_.kind, sync));
  shown_.attach(sync, pipeline_->source().live);
  kept_colours_.reset();
  Profiler& profiler = pipeline_->profiler();
  present_scope_ = profiler.scope("present", "texture");
  draw_scope_ = profiler.scope("present", "draw", 0, 0, !window_.software_rendering());
  panels_scope_ = profiler.scope("present", "panels");
  watch_ = std::make_unique<DisplayWatch>(profiler, pipeline_->timeline());
  flight_recorder_ = std::make_unique<FlightRecorder>(
      pipeline_->timeline(),
      FlightRecorder::Options{.trigger = trace_trigger_,
                              .source = pipeline_->source().name,
                              .losses = [this, p = pipeline_.get()] { return losses(*p); }});
  model_ = std::make_unique<ViewerModelBuilder>(
      *pipeline_, registry(), backend,
      MachineTexts{ui::name(pipeline_display_.kind), pipeline_display_.reason, window_.renderer(),
                   describe(window_.depth())},
      [this](const Notice& notice) { report_to_clients(notice); });
}

void Viewer::describe_source(const OpenRequest& request, const std::string& path) {
  const SourceInfo& source = pipeline_->source();
  ui::ViewerModel& m = model_->model();
  if (std::string text = playback_obstacle(line_, source); request.first && !text.empty())
    model_->notice(true, std::move(text));
  if (std::string text = controls_obstacle(line_, request.url); request.first && !text.empty())
    model_->notice(true, std::move(text));
  if (request.video_track)
    model_->notice(false, fmt::format("Video track {} of {}: {}", m.video_track, m.video_tracks.size(),
                                      chosen_track(m)));
  else if (request.start_ns > 0)
    model_->notice(false, fmt::format("Resumed at {}; Home starts over", ui::brief_time(request.start_ns)));
  window_.set_title(as_utf8(source.name) + " - lensd");  // Wayland requires UTF-8
  if (request.remember) memory_.add_recent(path.empty() ? request.url : path);
  m.source_path = path;
  m.source_folder = folder_of(path.empty() ? request.url : path, memory_.recent_sources());
  const bool film = source.seekable && !source.live && !source.image;
  thumbnails_.open(film ? path : "", source.duration_ns, source.video_track);
}

void Viewer::update_thumbnail() {
  ui::ViewerModel& m = model_->model();
  const int64_t wanted_ns = ui_.state().thumbnail.wanted_ns;
  auto found = wanted_ns >= 0 ? thumbnails_.find(wanted_ns) : nullptr;
  if (found && found != m.thumbnail) ++thumbnail_version_;
  m.thumbnail = std::move(found), m.thumbnails = thumbnails_.available();
}

FrameLosses Viewer::losses(const Pipeline& pipeline) const {
  const PipelineStatus status = pipeline.status();
  return {.late = status.late, .dropped = recorder_drops_, .not_shown = status.not_shown};
}

void Viewer::update_source_status() {
  const ui::SourceState& dialog = ui_.state().source;
  finder_.search(dialog.listed, dialog.listed_part, memory_.recent_sources());
  progress_.opening = opener_->opening(), progress_.since_ns = opener_->since_ns();
  model_->model().choices = finder_.choices(), model_->model().progress = progress_;
  model_->model().playlist = playlist_.sources(), model_->model().playlist_at = playlist_.current();
  std::vector<Notice> notices = shutdown_.take_notices();
  for (const Notice& notice : notices) report_to_clients(notice);
  show_notices(std::move(notices));
}

}  // namespace lensd
