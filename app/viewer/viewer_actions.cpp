#include "app/viewer/viewer.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "app/run.hpp"
#include "core/base/error.hpp"
#include "core/base/text/text.hpp"

namespace lensd {
namespace {

/// Template of a recording's name if none is configured.
constexpr const char* kRecordingName = "lensd-%F-%tF-%tH%tM%tS.mkv";

}  // namespace

void Viewer::handle_requests(const ui::ViewerRequests& requests) {
  if (requests.snapshot)
    report_failure("write a snapshot", [this] { snapshot(shown_.picture(), shown_aspect()); });
  if (requests.copy_picture) copy_picture();
  if (requests.toggle_record) report_failure("record", [this] { toggle_record(); });
  if (requests.toggle_virtual_camera) toggle_virtual_camera();
  show_notices(snapshots_.poll());
  if (requests.toggle_fullscreen) window_.set_fullscreen(!window_.fullscreen());
  if (requests.leave_fullscreen && window_.fullscreen()) window_.set_fullscreen(false);
  if (requests.toggle_on_top) window_.set_on_top(!window_.on_top());
  if (requests.toggle_borderless) window_.set_borderless(!window_.borderless());
  ui_.state().on_top = window_.on_top(), ui_.state().borderless = window_.borderless();
  if (requests.trace) flight_recorder_->request();
  show_notices(flight_recorder_->take_notices());
  quit_ = quit_ || requests.quit;
  if (requests.open) open_chosen(*requests.open);
  if (requests.play_index) open_listed(playlist_.select_shown(*requests.play_index));
  if (requests.play_step != 0) {
    const auto source = playlist_.step(requests.play_step);
    const bool one = !playlist_.several();
    const char* end = one && opener_->searching() ? "The dropped files are still being opened"
                      : one                       ? "There is no playlist: open several files or a folder"
                      : requests.play_step > 0    ? "This is the last source of the playlist"
                                                  : "This is the first source of the playlist";
    source ? open_listed(source, requests.play_step > 0 ? 1 : -1) : model_->notice(false, end);
  }
  if (requests.video_track) choose_video_track(*requests.video_track);
  if (requests.cancel_open) opener_->cancel(), playlist_.revert();
  if (!requests.remove_recent.empty()) memory_.remove_recent(requests.remove_recent);
  for (const auto& [problem, text] : requests.messages) model_->notice(problem, text);
}

void Viewer::show_notices(std::vector<Notice> notices) {
  for (Notice& notice : notices) model_->notice(notice.problem, std::move(notice.text));
}

void Viewer::report_failure(const char* what, const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& e) {
    model_->notice(true, fmt::format("cannot {}: {}", what, e.what()));
  }
}

void Viewer::handle_control() {
  if (!control_) return;
  quit_ = quit_ || control_->quit_requested();
  auto load = control_->take_load();
  if (!load) return;
  OpenRequest request;
  request.url = load->url, request.live = remembered(live_options_for(line_, load->url));
  request.done = [reply = std::move(load->reply)](OpenResult result, const std::string& problem) {
    reply(result == OpenResult::playing ? Response{} : Response{Status::refused, problem});
  };
  playlist_.revert();  // this request cancels one that may have chosen another source or list
  open_aside(std::move(request), pipeline_->graph()->graph);
}

void Viewer::report_to_clients(const Notice& notice) const {
  if (control_) control_->report(notice);
}

void Viewer::handle_dropped_files() {
  std::vector<std::string> sources;
  for (const std::string& path : window_.input().dropped_files) {
    if (!path.ends_with(".toml")) {
      sources.push_back(path);
      continue;
    }
    try {
      ui::PresetShelf::Settings settings = ui_.state().presets.load(path, ui_.state().editor);
      if (settings.precision) post({SetPrecision{*settings.precision}});
      if (!settings.controls.empty()) post({SetSourceControls{std::move(settings.controls), true}});
      model_->notice(false, "Loaded " + path);
    } catch (const Error& e) {
      model_->notice(true, e.what());
    }
  }
  if (!sources.empty()) open_all(std::move(sources));
}

PixelAspect Viewer::shown_aspect() const {
  const PipelineStatus status = pipeline_->status();
  return ui_.shows_source() ? status.source_aspect : status.pixel_aspect;
}

void Viewer::snapshot(std::optional<Image> picture, PixelAspect aspect) {
  if (!picture) return model_->notice(true, "cannot write a snapshot: no frame is finished yet");
  std::string name = line_.screenshot_template;
  if (std::filesystem::path(name).extension().empty()) name += ".png";
  const std::string folder = line_.screenshot_folder.empty() ? pictures_folder() : line_.screenshot_folder;
  snapshots_.take(std::move(*picture), aspect, expanded_path(name, folder));
}

void Viewer::copy_picture() {
  std::optional<Image> picture = shown_.picture();
  if (!picture) return model_->notice(true, "cannot copy the picture: no frame is finished yet");
  snapshots_.copy(std::move(*picture), shown_aspect());
}

void Viewer::toggle_record() {
  const auto requested = requested_recording();
  if (recorder_->status().active || (requested && !requested->keep_trying)) {
    record_sent_.reset();
    return post({StopRecord{}});
  }
  StartRecord start;
  start.next_free = true;
  std::string where;
  if (!line_.record.empty()) {
    start = record_command(line_, true);
  } else if (!line_.config.has("record.name") && !line_.config.has("record.folder")) {
    const std::string path = expanded_path(kRecordingName, videos_folder());
    start.path = escape_percent(path);  // the recorder expands strftime conversions
    where = " to " + path;
  }
  start_recording(std::move(start));
  model_->notice(false, "recording" + where);
}

void Viewer::start_recording(StartRecord command) {
  record_sent_ = command;
  post({std::move(command)});
}

std::optional<StartRecord> Viewer::requested_recording() const {
  // The recorder also has recordings that control clients start, but only after the pipeline has applied the
  // command.
  return pipeline_->status().applied < record_ticket_ ? record_sent_ : recorder_->requested();
}

void Viewer::continue_recording(StartRecord command) {
  const bool named = !command.beneath.empty() || command.path.empty() || command.path == line_.record;
  command.resumed = named;
  if (!named) command.path = escape_percent(expanded_path(kRecordingName, videos_folder()));
  start_recording(std::move(command));
  model_->notice(false, "The recording continues with this source in a new file");
}

void Viewer::toggle_virtual_camera() {
  if (virtual_camera_->on()) {
    virtual_camera_->stop();
    return model_->notice(false, "The virtual camera is off");
  }
  const std::string& configured = line_.config.output_virtual_camera;
  const std::string name = configured.empty() ? kVirtualCameraName : configured;
  try {
    virtual_camera_->start(name);
    camera_announced_ = false;
    pipeline_->wake();  // while no new frame comes, the camera gets the current one
  } catch (const Error& e) {
    model_->notice(true, e.what());
  }
}

/// Adds a notice when PipeWire offers the virtual camera. Before that, the camera's own notices say what is
/// missing.
void Viewer::announce_virtual_camera() {
  if (camera_announced_) return;
  const VirtualCamera::Status status = virtual_camera_->status();
  camera_announced_ = status.state != VirtualCamera::State::waiting;
  if (status.state == VirtualCamera::State::ready || status.state == VirtualCamera::State::streaming)
    model_->notice(false, fmt::format("Other programs see the output as the camera '{}'", status.name));
}

std::string Viewer::expanded_path(const std::string& name, const std::string& folder) const {
  const FrameInfo info = shown_ ? shown_.info() : FrameInfo{};
  const std::string text = expand_template(name, pipeline_->source().name, info.pts_ns, info.index);
  return unused_path(text.find('/') == std::string::npos ? folder + "/" + text : text,
                     snapshots_.unfinished());
}

void Viewer::update_recording_status() {
  const SinkStatus status = recorder_->status();
  ui::ViewerModel& m = model_->model();
  m.recording = status.active, m.record_frames = status.frames, m.record_path = status.path;
  m.counts.recorder = status.dropped, m.counts.stream = 0;
  for (const auto& sink : pipeline_->sinks()) {
    if (sink == recorder_) continue;
    const SinkStatus other = sink->status();
    m.counts.stream += other.dropped;
    if (other.kind == SinkKind::virtual_camera) m.virtual_camera = other;
  }
  announce_virtual_camera();
  recorder_drops_.store(status.dropped, std::memory_order_relaxed);
}

}  // namespace lensd
