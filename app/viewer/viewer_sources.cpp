#include "app/viewer/viewer.hpp"

#include <utility>

#include "core/base/log.hpp"
#include "core/base/source_text.hpp"
#include "core/media/url.hpp"
#include "kernels/registry.hpp"

namespace lensd {

ViewerSetup Viewer::setup() const {
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

void Viewer::open_first(const GraphDesc& graph) {
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
  OpenedPipeline made = make_viewer_source(*own, request, std::make_shared<std::atomic<bool>>(false));
  if (!line_.record.empty()) made.pipeline->post(record_command(line_));
  install(request, std::move(made));
  if (!line_.source.empty() || request.url != playable_url("test:demo")) return;
  model_->model().demo = true;
  model_->notice(false, "A test picture. Open a file with Ctrl+o, or drop one into the window.");
}

void Viewer::open_aside(OpenRequest request, GraphDesc graph) {
  request.graph = std::move(graph);
  request.loop_file = model_->model().loop_file, request.speed = model_->model().speed;
  opener_->open(std::move(request));
}

void Viewer::open_wish(const ui::SourceRequest& wish) {
  OpenRequest request;
  request.url = tidy_source(wish.text);
  request.live = live_options_for(line_, request.url);
  request.live.must_open = !wish.wait;
  if (!wish.format.empty()) request.live.format = wish.format;
  if (wish.size.width > 0) request.live.size = wish.size;
  if (wish.rate > 0) request.live.rate = wish.rate;
  request.remember = true;
  request.done = [this, wish](OpenResult end, const std::string& problem) {
    if (end != OpenResult::failed) return;
    ui::SourceProgress& p = progress_;
    ++p.failures;
    p.problem = problem, p.failed = wish;
    p.may_wait = !wish.wait && is_live(classify(tidy_source(wish.text)));
    // In the dialog it is read where the name was typed.
    ui_.state().source.open ? log::warn("{}", problem) : model_->notice(true, problem);
  };
  open_aside(std::move(request), ui_.state().editor.graph());
}

void Viewer::take_opened() {
  auto finished = opener_->take();
  if (!finished) return;
  const auto done = std::move(finished->request.done);
  if (!finished->problem.empty()) {
    if (done) done(OpenResult::failed, finished->problem);
    return;
  }
  install(finished->request, std::move(finished->made));
  if (done) done(OpenResult::plays, {});
}

void Viewer::install(const OpenRequest& request, OpenedPipeline made) {
  // The display path reads frames of the old pipeline: it goes first, then the pipeline.
  shown_.reset();
  tracks_.clear();
  presenter_.reset();
  flight_recorder_.reset();
  watch_.reset();
  OpenedPipeline old{std::move(pipeline_), std::move(recorder_)};
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

FrameLosses Viewer::losses(const Pipeline& pipeline) const {
  const PipelineStatus status = pipeline.status();
  return {.late = status.late, .dropped = recorder_drops_, .not_shown = status.not_shown};
}

void Viewer::tell_of_sources() {
  finder_.want(ui_.state().source.listed, memory_.recent_sources());
  progress_.opening = opener_->opening(), progress_.since_ns = opener_->since_ns();
  model_->model().choices = finder_.choices(), model_->model().progress = progress_;
  for (SinkNotice& n : retirement_.take_notices()) model_->notice(n.problem, std::move(n.text));
}

}  // namespace lensd
