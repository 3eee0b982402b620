// lensd SOURCE: the window.
//
// The UI thread owns window, GL and ImGui. Each turn it takes the newest finished frame, draws it and the
// panels, and posts what the user asked for to the pipeline. It never waits for the pipeline, nor the
// pipeline for it.

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "app/clock_reader.hpp"
#include "app/copy_rates.hpp"
#include "app/display_watch.hpp"
#include "app/flight_recorder.hpp"
#include "app/interruption.hpp"
#include "app/last_graph.hpp"
#include "app/run.hpp"
#include "app/shown_frame.hpp"
#include "app/snapshots.hpp"
#include "app/source_finder.hpp"
#include "app/ui_map.hpp"
#include "app/viewer_control.hpp"
#include "app/viewer_memory.hpp"
#include "app/viewer_model.hpp"
#include "app/viewer_source.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/source_text.hpp"
#include "core/config/presets.hpp"
#include "core/media/url.hpp"
#include "kernels/registry.hpp"
#include "ui/imgui_session.hpp"
#include "ui/presenter.hpp"
#include "ui/scope_texture.hpp"
#include "ui/track_overlay.hpp"
#include "ui/viewer_ui.hpp"
#include "ui/window.hpp"

namespace lensd {
namespace {

/// How long the loop sleeps when nothing happens; a new frame or an event ends the sleep.
constexpr double kIdleSeconds = 0.1;

class Viewer {
 public:
  Viewer(const CommandLine& line, const GraphDesc& graph)
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

  void run() {
    const Interruption interruption;
    while (window_.poll(kIdleSeconds) && !quit_ && !interruption.requested()) {
      window_.hidden() ? turn_unseen() : turn();
      memory_.keep(ui_.state(), window_);
      last_graph_.keep(ui_.state());
    }
    memory_.keep(ui_.state(), window_, true);
    last_graph_.keep(ui_.state(), true);
    finish();
  }

 private:
  ViewerSetup setup() const {
    return {.line = line_,
            .backend = backend_,
            .host_frames = display_.kind == ui::DisplayKind::pixel_buffer,
            .controlled = control_ != nullptr,
            .traced = !line_.trace.empty() || trace_trigger_.any(),
            .on_frame = [] { ui::Window::wake(); },
            .on_change =
                [control = control_.get()] {
                  if (control) control->changed();
                }};
  }

  /// The source of the command line: where it cannot be opened, there is nothing to show.
  void open_first(const GraphDesc& graph) {
    const auto own = std::make_shared<const ViewerSetup>(setup());
    opener_ = std::make_unique<SourceOpener>(
        [own](const OpenRequest& request, std::shared_ptr<const std::atomic<bool>> cancel) {
          return make_viewer_source(*own, request, std::move(cancel));
        },
        [] { ui::Window::wake(); });
    OpenRequest request{.url = source_url(line_),
                        .live = line_.live,
                        .graph = graph,
                        .first = true,
                        .remember = !line_.source.empty(),
                        .loop_file = line_.loop_file,
                        .speed = line_.speed,
                        .done = {}};
    MadeSource made = make_viewer_source(*own, request, std::make_shared<std::atomic<bool>>(false));
    if (!line_.record.empty()) made.pipeline->post(record_command(line_));
    install(request, std::move(made));
    if (!line_.source.empty() || request.url != playable_url("test:demo")) return;
    model_->model().demo = true;
    model_->notice(false, "A test picture. Open a file with Ctrl+o, or drop one into the window.");
  }

  /// Has a source opened aside; what plays goes on until it is there.
  void open_aside(OpenRequest request, GraphDesc graph) {
    request.graph = std::move(graph);
    request.loop_file = model_->model().loop_file, request.speed = model_->model().speed;
    opener_->open(std::move(request));
  }

  /// A wish of the user's. A live source that is not up is refused, unless it is to be waited for.
  void open_wish(const ui::SourceWish& wish) {
    OpenRequest request;
    request.url = tidy_source(wish.text);
    request.live = live_options_for(line_, request.url);
    request.live.must_open = !wish.wait;
    if (!wish.format.empty()) request.live.format = wish.format;
    if (wish.size.width > 0) request.live.size = wish.size;
    if (wish.rate > 0) request.live.rate = wish.rate;
    request.remember = true;
    request.done = [this, wish](OpenEnd end, const std::string& problem) {
      if (end != OpenEnd::failed) return;
      ui::SourceProgress& p = progress_;
      ++p.failures;
      p.problem = problem, p.failed = wish;
      p.may_wait = !wish.wait && is_live(classify(tidy_source(wish.text)));
      // In the dialog it is read where the name was typed.
      ui_.state().source.open ? log::warn("{}", problem) : model_->notice(true, problem);
    };
    open_aside(std::move(request), ui_.state().editor.graph());
  }

  void take_opened() {
    auto finished = opener_->take();
    if (!finished) return;
    const auto done = std::move(finished->request.done);
    if (!finished->problem.empty()) {
      if (done) done(OpenEnd::failed, finished->problem);
      return;
    }
    install(finished->request, std::move(finished->made));
    if (done) done(OpenEnd::plays, {});
  }

  /// A source in place of the one before it, whose threads end aside.
  void install(const OpenRequest& request, MadeSource made) {
    // The display path reads frames of the old pipeline: it goes first, then the pipeline.
    shown_.reset();
    tracks_.clear();
    presenter_.reset();
    flight_recorder_.reset();
    watch_.reset();
    MadeSource old{std::move(pipeline_), std::move(recorder_)};
    std::vector<ui::Notice> notices;
    if (model_) notices = std::move(model_->model().notices);
    pipeline_ = std::move(made.pipeline), recorder_ = std::move(made.recorder);
    if (control_) control_->attach(pipeline_, request.url);
    presenter_ = std::make_unique<ui::Presenter>(
        ui::make_display_path(display_.kind, pipeline_->executor().device_sync()),
        ui::make_display_path(display_.kind, pipeline_->executor().device_sync()));
    shown_.attach(pipeline_->executor().device_sync());
    present_scope_ = pipeline_->profiler().scope("present", "texture");
    draw_scope_ = pipeline_->profiler().scope("present", "draw", 0, 0, !window_.software_rendering());
    panels_scope_ = pipeline_->profiler().scope("present", "panels");
    watch_ = std::make_unique<DisplayWatch>(pipeline_->profiler(), pipeline_->timeline());
    flight_recorder_ = std::make_unique<FlightRecorder>(
        pipeline_->timeline(),
        FlightRecorder::Options{.trigger = trace_trigger_,
                                .source = pipeline_->source().name,
                                .losses = [this, p = pipeline_.get()] { return losses(*p); }});
    model_ = std::make_unique<ViewerModelBuilder>(
        *pipeline_, registry(), backend_,
        MachineTexts{ui::name(display_.kind), display_.reason, window_.renderer()});
    model_->model().notices = std::move(notices), model_->model().loop_file = request.loop_file;
    window_.set_title(pipeline_->source().name + " - lensd");
    if (request.remember) memory_.played(request.url);
    model_->model().source_folder = folder_of(request.url, memory_.recent_sources());
    // What was edited while it was being opened.
    if (!request.first && !equivalent(request.graph, ui_.state().editor.graph(), registry()))
      pipeline_->post(SetGraph{ui_.state().editor.graph()});
    may_fail_ = !request.first, failed_ = false;
    retirement_.replace(std::move(old), pipeline_);
  }

  /// A source that was chosen while the program ran and breaks leaves the window to choose another one.
  void check_pipeline() {
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

  void turn() {
    check_pipeline();
    take_opened();
    take_dropped_files();
    obey_control();
    const bool fresh = show_newest();
    shown_.take_side_data(*model_, tracks_);
    shown_.read_pixels(ui_.state().probe, *model_);
    tell_of_recording();
    tell_of_sources();
    if (ui_.state().log.open) model_->model().log = log::recent();
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

  /// Of a window that is not to be seen: nothing is drawn, and the pipeline goes on at its pace.
  void turn_unseen() {
    check_pipeline();
    take_opened();
    obey_control();
    if (const Frame frame = pipeline_->take_newest()) {
      pipeline_->passed_over();
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

  /// True when there was one.
  bool show_newest() {
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

  void present_done() {
    const PipelineStatus status = pipeline_->status();
    if (const int64_t work = watch_->presented(status.speed, status.paused || status.ended); work > 0)
      flight_recorder_->frame_took(work);
    ui::ViewerModel& m = model_->model();
    m.counts.repeated = watch_->repeated();
    m.cpu_copy_rate = copy_rates_.cpu(), m.gpu_copy_rate = copy_rates_.gpu();
    clocks_.want(ui_.state().timings_view.details);
    if (ui_.state().timings_view.details) m.cpu_clock = clocks_.cpu(), m.gpu_clock = clocks_.gpu();
  }

  FrameLosses losses(const Pipeline& pipeline) const {
    const PipelineStatus status = pipeline.status();
    return {.late = status.late, .dropped = recorder_drops_, .not_shown = status.not_shown};
  }

  void draw_tracks() {
    const bool side = ui_.compare_look().mode == ui::CompareMode::side && shown_.has_second();
    const ui::Rect area = side ? ui::halves(ui_.picture_rect()).second : ui_.picture_rect();
    const ui::Placement placed = ui::place(presenter_->picture(), area, ui_.view());
    tracks_.draw(window_.framebuffer(), area, placed.picture, ui_.state().tracks, session_.look().scale);
  }

  /// Presets are loaded, the first of the others is played.
  void take_dropped_files() {
    bool opened = false;
    for (const std::string& path : window_.input().dropped_files) {
      if (!path.ends_with(".toml")) {
        if (!std::exchange(opened, true))
          open_wish({.text = path, .format = {}, .size = {}, .rate = 0, .wait = false});
        continue;
      }
      try {
        ui_.state().presets.load(path, ui_.state().editor);
        model_->notice(false, "Loaded " + path);
      } catch (const Error& e) {
        model_->notice(true, e.what());
      }
    }
  }

  void tell_of_sources() {
    finder_.want(ui_.state().source.listed, memory_.recent_sources());
    progress_.opening = opener_->opening(), progress_.since_ns = opener_->since_ns();
    model_->model().choices = finder_.choices(), model_->model().progress = progress_;
    for (SinkNotice& n : retirement_.take_notices()) model_->notice(n.problem, std::move(n.text));
  }

  void tell_of_recording() {
    const SinkStatus status = recorder_->status();
    ui::ViewerModel& m = model_->model();
    m.recording = status.recording, m.record_frames = status.frames, m.record_path = status.path;
    m.counts.recorder = status.dropped, m.counts.stream = 0;
    for (const auto& sink : pipeline_->sinks())
      if (sink != recorder_) m.counts.stream += sink->status().dropped;
    recorder_drops_.store(status.dropped, std::memory_order_relaxed);
  }

  /// `%F` and the like in the template, in the user's folder unless the template names one.
  std::string named(const std::string& name, const std::string& folder) const {
    const FrameInfo info = shown_ ? shown_.info() : FrameInfo{};
    const std::string text = expand_template(name, pipeline_->source().name, info.pts_ns, info.index);
    return unused_path(text.find('/') == std::string::npos ? folder + "/" + text : text);
  }

  void snapshot(std::optional<Image> picture) {
    if (!picture) return model_->notice(true, "no snapshot: no picture is finished yet");
    std::string name = line_.screenshot_template;
    if (std::filesystem::path(name).extension().empty()) name += ".png";
    const std::string folder = line_.screenshot_folder.empty() ? pictures_folder() : line_.screenshot_folder;
    snapshots_.take(std::move(*picture), named(name, folder));
  }

  void toggle_record() {
    if (recorder_->status().recording) return pipeline_->post(StopRecord{});
    const std::string path = line_.record.empty() ? named("lensd-%F-%tF-%tH%tM%tS.mkv", videos_folder()) : "";
    pipeline_->post(StartRecord{.path = path, .beneath = ""});
    model_->notice(false, "recording" + (path.empty() ? std::string() : " to " + path));
  }

  void obey_control() {
    if (!control_) return;
    quit_ = quit_ || control_->quit_asked();
    auto load = control_->take_load();
    if (!load) return;
    OpenRequest request;
    request.url = load->url, request.live = live_options_for(line_, load->url);
    request.done = [reply = std::move(load->reply)](OpenEnd end, const std::string& problem) {
      reply(end == OpenEnd::plays ? Answer{} : Answer{Fault::refused, problem, {}});
    };
    open_aside(std::move(request), pipeline_->graph()->graph);
  }

  void obey(const ui::ViewerRequests& requests) {
    if (requests.snapshot) snapshot(shown_.picture());
    if (requests.toggle_record) toggle_record();
    for (SnapshotNotice& n : snapshots_.poll()) model_->notice(n.problem, std::move(n.text));
    if (requests.toggle_fullscreen) window_.set_fullscreen(!window_.fullscreen());
    if (requests.leave_fullscreen && window_.fullscreen()) window_.set_fullscreen(false);
    if (requests.trace) flight_recorder_->request();
    for (SinkNotice& n : flight_recorder_->take_notices()) model_->notice(n.problem, std::move(n.text));
    quit_ = quit_ || requests.quit;
    if (requests.open) open_wish(*requests.open);
    if (requests.cancel_open) opener_->cancel();
    if (!requests.forget_source.empty()) memory_.forget(requests.forget_source);
    for (const auto& [problem, text] : requests.messages) model_->notice(problem, text);
  }

  void finish() {
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
    if (const std::string damage = pipeline_->source_damage(); !damage.empty())
      fmt::print(stderr, "lensd: {}: {}\n", pipeline_->source().name, damage);
    if (!failed_) pipeline_->check();
  }

  const CommandLine& line_;
  ui::ViewerUi ui_;
  ViewerMemory memory_;
  LastGraph last_graph_;
  ui::Window window_;
  ui::ImGuiSession session_;
  BackendChoice backend_;
  ui::DisplayChoice display_;
  CopyRates copy_rates_;
  ClockReader clocks_;
  ui::ScopeTexture scope_texture_;
  ui::TrackOverlay tracks_;
  Snapshots snapshots_;
  UiMap map_;
  std::unique_ptr<ViewerControl> control_;  // outlives the pipelines that report to it
  std::unique_ptr<SourceOpener> opener_;
  SourceFinder finder_{[] { ui::Window::wake(); }};
  Retirement retirement_;
  ui::SourceProgress progress_;
  TraceTrigger trace_trigger_ = parse_trace_trigger(line_.trace_on);
  std::shared_ptr<Pipeline> pipeline_;
  std::atomic<uint64_t> recorder_drops_{0};
  std::unique_ptr<FlightRecorder> flight_recorder_;  // reads the pipeline
  std::unique_ptr<DisplayWatch> watch_;              // writes into it
  std::shared_ptr<RecorderTap> recorder_;
  std::unique_ptr<ui::Presenter> presenter_;  // destroyed before the pipeline whose frames it reads
  std::unique_ptr<ViewerModelBuilder> model_;
  ShownFrame shown_;  // goes before the pipeline
  int present_scope_ = 0, draw_scope_ = 0, panels_scope_ = 0;
  bool quit_ = false;
  bool may_fail_ = false, failed_ = false;  ///< the pipeline's source: it was chosen here; it broke
};

}  // namespace

void run_viewer(const CommandLine& line, const GraphDesc& graph) {
  Viewer(line, graph).run();
}

}  // namespace lensd
