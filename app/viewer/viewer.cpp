#include "app/viewer/viewer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/commands/interruption.hpp"
#include "app/reports.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/config/presets.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

/// Limits of the wait for an event, in seconds. A new frame ends the wait. Otherwise the window is drawn
/// again after ten times the duration of the last drawing, so that a software renderer leaves the processor
/// to the decoder.
constexpr double kIdleSeconds = 0.1, kMaxIdleSeconds = 0.3;

}  // namespace

Viewer::Viewer(const CommandLine& line, const GraphDesc& graph)
    : line_(line),
      memory_(ui_.state()),
      window_({.title = "lensd",
               .width = memory_.width(line.config),
               .height = memory_.height(line.config),
               .fullscreen = line.config.fullscreen,
               .hidden = false,
               .vsync = line.config.vsync}),
      session_(window_),
      backend_(choose_backend(line.config.backend, line.config.device)),
      display_(ui::choose_display_path(backend_.backend, line.config.device)),
      machine_speed_(std::in_place, backend_.backend, line.config.device, line.config.threads),
      virtual_camera_(make_virtual_camera(line)) {
  log::info("display path {}: {}", ui::name(display_.kind), display_.reason);
  const ControlOptions control = control_options(line, false);
  if (!control.socket.path.empty() || control.http)
    control_ =
        std::make_unique<ViewerControl>(line, control, backend_, virtual_camera_, [] { ui::Window::wake(); });
  open_first(graph);
  ui_.state().presets = ui::PresetShelf(preset_folders());
  if (!line.graph_file.empty())
    ui_.state().presets.started_with(line.graph_file, load_preset(line.graph_file, registry()),
                                     ui_.state().editor);
  ui_.track_widgets(map_.wanted());
}

void Viewer::run() {
  const Interruption interruption;
  double idle_seconds = kIdleSeconds;
  while (window_.poll(ui_.behind() || session_.behind() ? 0 : idle_seconds) && !quit_ &&
         !interruption.requested()) {
    const int64_t begin_ns = now_ns();
    window_.hidden() ? skip_frame() : draw_frame();
    idle_seconds = std::clamp(10 * to_s(now_ns() - begin_ns), kIdleSeconds, kMaxIdleSeconds);
    if (const auto& controls = model_->model().controls) memory_.keep_controls(*controls);
    memory_.save(ui_.state(), window_.logical_size());
  }
  finish();
}

void Viewer::begin_frame() {
  if (!source_failed_) {
    try {
      pipeline_->check();
    } catch (const Error& e) {
      if (!(source_chosen_ || automatic_) || e.code() != ExitCode::bad_source) throw;
      source_failed_ = true;
      pipeline_->stop();
      const bool opening = !opener_->opening().empty();  // the user has chosen the next source
      automatic_ && !opening ? skip_failed(e.what()) : model_->notice(true, e.what());
      end_seen_ = automatic_;  // advance_playlist() must not skip another source
    }
  }
  install_opened();
  open_found_camera();
  advance_playlist();
  handle_control();
}

void Viewer::update_status() {
  update_recording_status();
  update_source_status();
  update_thumbnail();
  const PipelineStatus status = pipeline_->status();
  memory_.keep_sound(line_.config, status.volume, status.muted);
  playing_ = !status.paused && !status.ended;
  const LiveStatus& live = status.live;
  const bool moving =
      !source_failed_ && !pipeline_->source().image && (!live.live || live.state == LiveState::playing);
  const bool watched = playing_ && moving && !window_.hidden() && !camera_wait_;  // not the test picture
  screen_saver_.keep_off(watched && line_.config.keep_screen_on);
}

void Viewer::draw_frame() {
  begin_frame();
  handle_dropped_files();
  const bool fresh = show_newest();
  shown_.take_side_data(*model_, tracks_);
  shown_.read_pixels(ui_.state().probe, *model_);
  update_status();
  if (ui_.state().log.open) model_->refresh_log();
  const int64_t panels_begin = now_ns();
  session_.begin();
  ui_.set_fullscreen(window_.fullscreen());
  std::vector<Command> commands;
  const ui::UiState& shown = ui_.state();
  const bool controls_shown = shown.panels && shown.left_room && shown.camera.open;
  ui_.draw(model_->build(presenter_->picture(), controls_shown), window_.input(), session_.look(), commands);
  const int64_t panels_ns = now_ns() - panels_begin;
  post(commands);
  shown_.refresh(*presenter_, ui_);
  update_panel_textures();
  kept_colours_.update(model_->model(), *presenter_);
  presenter_->draw(window_.framebuffer(), ui_.picture_rect(), ui_.view(), ui_.compare_look());
  draw_tracks();
  const int64_t render_begin = now_ns();
  session_.end();
  pipeline_->profiler().record(panels_scope_, panels_ns + now_ns() - render_begin);
  if (ui_.requests().snapshot_window)
    report_failure("write a snapshot", [this] { snapshot(window_.read_pixels(), {}); });
  watch_->drawn();
  // Low latency: present a new frame immediately, do not wait for vsync.
  window_.present(fresh && line_.live.low_latency);
  after_present();
  if (const auto drawn = presenter_->take_draw_ns()) pipeline_->profiler().record(draw_scope_, *drawn);
  map_.update(ui_, model_->model());
  handle_requests(ui_.requests());
}

void Viewer::post(const std::vector<Command>& commands) {
  const auto sent = [this](const Command& command, uint64_t ticket) {
    model_->sent(command, ticket);
    if (std::holds_alternative<StartRecord>(command) || std::holds_alternative<StopRecord>(command))
      record_ticket_ = ticket;
  };
  if (source_failed_) {  // a stopped pipeline accepts no commands
    outbox_.clear();
    for (const Command& command : commands) sent(command, 0);
    return;
  }
  outbox_.post(
      commands, [this](const Command& command) { return pipeline_->try_post(command); }, sent);
}

void Viewer::skip_frame() {
  ui_.state().seek_held = false;
  begin_frame();
  post({});
  if (const Frame frame = pipeline_->take_newest()) {
    pipeline_->count_not_shown();
    if (control_ && pipeline_display_.kind == ui::DisplayKind::pixel_buffer) frame.wait_ready();
    if (control_) control_->shown(frame);
  }
  watch_->hidden();
  update_status();
  model_->build(presenter_->picture(), false, false);
  show_notices(snapshots_.poll());
  window_.present();
}

void Viewer::update_panel_textures() {
  ui::ScopesState& scopes = ui_.state().scopes;
  scopes.texture = scope_texture_.name();
  scope_texture_.update(scopes.pixels.data(), scopes.size, scopes.paintings);
  ui_.state().thumbnail.texture = thumbnail_texture_.name();
  if (const auto& image = model_->model().thumbnail)
    thumbnail_texture_.update(image->pixels.data(), image->format.extent, thumbnail_version_);
}

bool Viewer::show_newest() {
  Frame frame = pipeline_->take_newest();
  if (!frame) return false;
  picture_seen_ = true;
  if (pipeline_display_.kind == ui::DisplayKind::pixel_buffer) frame.wait_ready();
  const int64_t begin = now_ns();
  const FrameInfo info = frame.info;
  if (control_) control_->shown(frame);
  shown_.show(std::move(frame), *presenter_, ui_);
  const int64_t end = now_ns();
  pipeline_->profiler().record(present_scope_, end - begin);
  watch_->uploaded(info, begin, end);
  model_->shown(info);
  return true;
}

void Viewer::after_present() {
  const PipelineStatus status = pipeline_->status();
  if (const int64_t work = watch_->presented(status.speed, status.paused || status.ended); work > 0)
    flight_recorder_->frame_took(work);
  ui::ViewerModel& m = model_->model();
  m.counts.repeated = watch_->repeated();
  m.cpu_copy_rate = machine_speed_->cpu_copy_rate(), m.gpu_copy_rate = machine_speed_->gpu_copy_rate();
  const bool clocks = ui_.state().timings_view.details;
  machine_speed_->show_clocks(clocks);
  if (clocks) m.cpu_clock = machine_speed_->cpu_clock(), m.gpu_clock = machine_speed_->gpu_clock();
}

void Viewer::draw_tracks() {
  if (!ui_.tracks_fit()) return;
  const bool side = ui_.compare_look().mode == ui::CompareMode::side && shown_.has_second();
  const ui::Rect area = side ? ui::halves(ui_.picture_rect()).second : ui_.picture_rect();
  const ui::Placement placed = ui::place(presenter_->picture(), area, ui_.view());
  tracks_.draw(window_.framebuffer(), area, placed.picture, ui_.state().tracks, session_.look().scale);
}

void Viewer::finish() {
  keep_position();
  memory_.save(ui_.state(), window_.logical_size(), true);
  opener_.reset();
  camera_wait_.reset();
  shutdown_.finish();
  pipeline_->stop();
  if (control_) control_->stop();
  recorder_->finish();
  for (const Notice& n : recorder_->take_notices())
    if (n.problem) log::print(fmt::format("lensd: {}\n", n.text));
  flight_recorder_.reset();
  write_reports(line_, *pipeline_, PipeReader::must_be_quick);
  if (const std::string errors = pipeline_->source_errors(); !errors.empty() && !model_->errors_reported())
    log::print(fmt::format("lensd: {}: {}\n", pipeline_->source().name, errors));
  if (!source_failed_) pipeline_->check();
}

void run_viewer(const CommandLine& line, const GraphDesc& graph) {
  Viewer(line, graph).run();
}

}  // namespace lensd
