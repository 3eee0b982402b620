#include "app/viewer/viewer.hpp"

#include <filesystem>
#include <utility>

#include "core/base/error.hpp"

namespace lensd {

void Viewer::obey(const ui::ViewerRequests& requests) {
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

void Viewer::obey_control() {
  if (!control_) return;
  quit_ = quit_ || control_->quit_asked();
  auto load = control_->take_load();
  if (!load) return;
  OpenRequest request;
  request.url = load->url, request.live = live_options_for(line_, load->url);
  request.done = [reply = std::move(load->reply)](OpenResult end, const std::string& problem) {
    reply(end == OpenResult::plays ? Answer{} : Answer{Status::refused, problem, {}});
  };
  open_aside(std::move(request), pipeline_->graph()->graph);
}

void Viewer::take_dropped_files() {
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

void Viewer::snapshot(std::optional<Image> picture) {
  if (!picture) return model_->notice(true, "no snapshot: no picture is finished yet");
  std::string name = line_.screenshot_template;
  if (std::filesystem::path(name).extension().empty()) name += ".png";
  const std::string folder = line_.screenshot_folder.empty() ? pictures_folder() : line_.screenshot_folder;
  snapshots_.take(std::move(*picture), named(name, folder));
}

void Viewer::toggle_record() {
  if (recorder_->status().recording) return pipeline_->post(StopRecord{});
  const std::string path = line_.record.empty() ? named("lensd-%F-%tF-%tH%tM%tS.mkv", videos_folder()) : "";
  pipeline_->post(StartRecord{.path = path, .beneath = ""});
  model_->notice(false, "recording" + (path.empty() ? std::string() : " to " + path));
}

std::string Viewer::named(const std::string& name, const std::string& folder) const {
  const FrameInfo info = shown_ ? shown_.info() : FrameInfo{};
  const std::string text = expand_template(name, pipeline_->source().name, info.pts_ns, info.index);
  return unused_path(text.find('/') == std::string::npos ? folder + "/" + text : text);
}

void Viewer::tell_of_recording() {
  const SinkStatus status = recorder_->status();
  ui::ViewerModel& m = model_->model();
  m.recording = status.recording, m.record_frames = status.frames, m.record_path = status.path;
  m.counts.recorder = status.dropped, m.counts.stream = 0;
  for (const auto& sink : pipeline_->sinks())
    if (sink != recorder_) m.counts.stream += sink->status().dropped;
  recorder_drops_.store(status.dropped, std::memory_order_relaxed);
}

}  // namespace lensd
