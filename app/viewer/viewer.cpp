#include "app/viewer/viewer.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "app/commands/interruption.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/config/presets.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

/// How long the loop sleeps when nothing happens; a new frame or an event ends the sleep.
constexpr double kIdleSeconds = 0.1;

}  // namespace

Viewer::Viewer(const CommandLine& line, const GraphDesc& graph)
    : line_(line),
      memory_(ui_.state()),
      last_graph_(ui_.state()),
      window_({.title = "lensd",
               .width = memory_.width(line.window_width),
               .height = memory_.height(line.window_height),
               .fullscreen = line.fullscreen,
               .hidden = false,
               .vsync = line.vsync}),
      session_(window_),
      backend_(choose_backend(line.backend, probe_cuda(line.device))),
      display_(ui::choose_display_path(backend_.backend, line.device)),
      copy_rates_(backend_.backend, line.device, line.threads),
      clocks_(backend_.backend, line.device) {
  log::info("backend {}: {}", name(backend_.backend), backend_.reason);
  log::info("display path {}: {}", ui::name(display_.kind), display_.reason);
  const ControlDeskOptions desk = desk_options(line, false);
  if (!desk.socket.path.empty() || desk.http)
    control_ = std::make_unique<ViewerControl>(line, desk, backend_, [] { ui::Window::wake(); });
  open_first(graph);
  ui_.state().presets = ui::PresetShelf(preset_folders());
  if (!line.graph_file.empty())
    ui_.state().presets.began_with(line.graph_file, load_preset(line.graph_file, registry()),
                                   ui_.state().editor);
  ui_.track_widgets(map_.wanted());
}

void Viewer::run() {
  const Interruption interruption;
  while (window_.poll(ui_.behind() || session_.behind() ? 0 : kIdleSeconds) && !quit_ &&
         !interruption.requested()) {
    window_.hidden() ? turn_unseen() : turn();
    memory_.keep(ui_.state(), window_);
    last_graph_.keep(ui_.state());
  }
  memory_.keep(ui_.state(), window_, true);
  last_graph_.keep(ui_.state(), true);
  finish();
}

void Viewer::turn() {
  check_pipeline();
  take_opened();
  take_dropped_files();
  obey_control();
  const bool fresh = show_newest();
  shown_.take_side_data(*model_, tracks_);
  shown_.read_pixels(ui_.state().probe, *model_);
  tell_of_recording();
  tell_of_sources();
  if (ui_.state().log.open) model_->refresh_log();
  const int64_t panels_begin = now_ns();
  session_.begin();
  std::vector<Command> commands;
  ui_.draw(model_->build(presenter_->picture()), window_.input(), session_.look(), commands);
  const int64_t panels_ns = now_ns() - panels_begin;
  for (Command& command : commands) {
    model_->sent(command);
    pipeline_->post(std::move(command));
  }
  shown_.refresh(*presenter_, ui_);
  scope_texture_.update(ui_.state().scopes);
  presenter_->draw(window_.framebuffer(), ui_.picture_rect(), ui_.view(), ui_.compare_look());
  draw_tracks();
  const int64_t render_begin = now_ns();
  session_.end();
  pipeline_->profiler().record(panels_scope_, panels_ns + now_ns() - render_begin);
  if (ui_.requests().snapshot_window) snapshot(window_.read_pixels());
  watch_->drawn();
  // The next frame comes when it comes, and there is no more than one turn for each: no rest between.
  window_.present(fresh && line_.live.low_latency);
  present_done();
  if (const auto drawn = presenter_->take_draw_ns()) pipeline_->profiler().record(draw_scope_, *drawn);
  map_.update(ui_, model_->model());
  obey(ui_.requests());
}

void Viewer::turn_unseen() {
  check_pipeline();
  take_opened();
  obey_control();
  if (const Frame frame = pipeline_->take_newest()) {
    pipeline_->count_not_shown();
    if (control_ && display_.kind == ui::DisplayKind::pixel_buffer) frame.wait_ready();
    if (control_) control_->shown(frame);
  }
  watch_->hidden();
  tell_of_recording();
  tell_of_sources();
  model_->build(presenter_->picture());
  for (SnapshotNotice& n : snapshots_.poll()) model_->notice(n.problem, std::move(n.text));
  window_.present();
}

void Viewer::check_pipeline() {
  if (failed_) return;
  try {
    pipeline_->check();
  } catch (const Error& e) {
    if (!may_fail_ || e.code() != ExitCode::bad_source) throw;
    failed_ = true;
    pipeline_->stop();
    model_->notice(true, e.what());
  }
}

bool Viewer::show_newest() {
  Frame frame = pipeline_->take_newest();
  if (!frame) return false;
  if (display_.kind == ui::DisplayKind::pixel_buffer) frame.wait_ready();
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

void Viewer::present_done() {
  const PipelineStatus status = pipeline_->status();
  if (const int64_t work = watch_->presented(status.speed, status.paused || status.ended); work > 0)
    flight_recorder_->frame_took(work);
  ui::ViewerModel& m = model_->model();
  m.counts.repeated = watch_->repeated();
  m.cpu_copy_rate = copy_rates_.cpu(), m.gpu_copy_rate = copy_rates_.gpu();
  clocks_.want(ui_.state().timings_view.details);
  if (ui_.state().timings_view.details) m.cpu_clock = clocks_.cpu(), m.gpu_clock = clocks_.gpu();
}

void Viewer::draw_tracks() {
  const bool side = ui_.compare_look().mode == ui::CompareMode::side && shown_.has_second();
  const ui::Rect area = side ? ui::halves(ui_.picture_rect()).second : ui_.picture_rect();
  const ui::Placement placed = ui::place(presenter_->picture(), area, ui_.view());
  tracks_.draw(window_.framebuffer(), area, placed.picture, ui_.state().tracks, session_.look().scale);
}

void Viewer::finish() {
  opener_.reset();
  retirement_.finish();
  pipeline_->stop();
  if (control_) control_->stop();
  recorder_->finish();
  for (const SinkNotice& n : recorder_->take_notices())
    if (n.problem) fmt::print(stderr, "lensd: {}\n", n.text);
  if (!line_.timings.empty()) write_timings(line_.timings, pipeline_->profiler().snapshot());
  flight_recorder_.reset();
  if (!line_.trace.empty()) write_text(line_.trace, pipeline_->timeline().chrome_trace());
  if (const std::string stream_errors = pipeline_->source_errors();
      !stream_errors.empty() && !model_->damage_told())
    fmt::print(stderr, "lensd: {}: {}\n", pipeline_->source().name, stream_errors);
  if (!failed_) pipeline_->check();
}

void run_viewer(const CommandLine& line, const GraphDesc& graph) {
  Viewer(line, graph).run();
}

}  // namespace lensd
