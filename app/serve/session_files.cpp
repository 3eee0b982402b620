// Files that a session writes on request: snapshots, traces, recordings.
#include <fmt/format.h>

#include <filesystem>
#include <thread>
#include <utility>

#include "app/output_files.hpp"
#include "app/pipeline/recorder_sink.hpp"
#include "app/serve/session.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/owned_work.hpp"
#include "core/control/properties.hpp"
#include "core/media/recording.hpp"

namespace lensd {
namespace {

/// Maximum time that a request waits for a recording's first picture.
constexpr std::chrono::seconds kFirstPicture(2);

/// Maximum time that a request waits for the connection to PipeWire. A failed attempt takes less.
constexpr int64_t kCameraTimeoutNs = 300'000'000;

/// Returns the status of the recorder, or a default SinkStatus if the pipeline has no recorder.
SinkStatus recorder_status(const Pipeline& pipeline) {
  for (const auto& sink : pipeline.sinks())
    if (SinkStatus status = sink->status(); status.kind == SinkKind::recorder) return status;
  return {};
}

/// Returns the command of the recording that runs or will run; nullopt if there is none.
std::optional<StartRecord> requested_recording(const Pipeline& pipeline) {
  for (const auto& sink : pipeline.sinks())
    if (const auto* const recorder = dynamic_cast<const RecorderSink*>(sink.get()))
      return recorder->requested();
  return std::nullopt;
}

/// Polls the recorder every 20 ms until `done` returns true, at most for `timeout`. Returns the recorder's
/// status.
template <class F>
SinkStatus wait_for_recorder(const Pipeline& pipeline, std::chrono::nanoseconds timeout, F done) {
  SinkStatus status = recorder_status(pipeline);
  for (const int64_t deadline = now_ns() + timeout.count(); !done(status) && now_ns() < deadline;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    status = recorder_status(pipeline);
  }
  return status;
}

}  // namespace

struct Session::EncodeJob {
  EncodeJob(Frame f, std::shared_ptr<Encoder> e, PixelAspect a)
      : frame(std::move(f)), encoder(std::move(e)), aspect(a) {}

  void run() {
    auto made = std::make_shared<EncodedPicture>();
    const std::lock_guard lock(encoder->mutex);
    const Frame source = std::move(frame);
    const auto bytes = encoder->still.encode(source.image(), aspect);
    made->bytes.assign(bytes.begin(), bytes.end());
    made->frame = source.info;
    encoded = std::move(made);
  }

  Frame frame;
  const std::shared_ptr<Encoder> encoder;
  const PixelAspect aspect;
  std::shared_ptr<const EncodedPicture> encoded;
};

/// Writes a snapshot or trace and returns its path. Throws Error(usage) if it would replace the source.
std::string Session::write_capture(const std::string& name, std::string_view bytes, const std::string& kind) {
  std::string source;
  {
    const std::lock_guard lock(mutex_);
    source = url_;
  }
  refuse_source_file((std::filesystem::path(captures_.path()) / name).string(), "this request", source);
  return captures_.write(name, bytes, kind);
}

void Session::snapshot(std::string path, Reply reply) {
  enqueue(files_, std::move(reply), [this, path = std::move(path)]() -> Response {
    const bool jpeg = path.ends_with(".jpg") || path.ends_with(".jpeg");
    if (!path.empty() && !jpeg && !path.ends_with(".png"))
      return {Status::refused, fmt::format("{}: the name of a snapshot ends in .png or .jpg", path)};
    const auto encoded = picture(jpeg ? PictureType::jpeg : PictureType::png, 0);
    if (!encoded) return {Status::refused, "there is no frame yet"};
    const int64_t frame = encoded->frame.index;
    const std::string written = path.empty() ? captures_.write_new(frame, ".png", encoded->bytes, "snapshot")
                                             : write_capture(path, encoded->bytes, "snapshot");
    return {.data = {{"path", written}, {"frame", frame}}};
  });
}

void Session::trace(std::string path, Reply reply) {
  enqueue(files_, std::move(reply), [this, path = std::move(path)]() -> Response {
    if (!path.empty() && !path.ends_with(".json"))
      return {Status::refused, fmt::format("{}: the name of a trace ends in .json", path)};
    const auto running = pipeline();
    if (!running) return not_posted();
    const std::string text = running->timeline().chrome_trace();
    const std::string written = path.empty()
                                    ? captures_.write_new(state().frame_index, ".trace.json", text, "trace")
                                    : write_capture(path, text, "trace");
    return {.data = {{"path", written}}};
  });
}

void Session::record(bool on, StartRecord what, Reply reply) {
  enqueue(files_, std::move(reply),
          [this, on, what = std::move(what)] { return on ? start_recording(what) : stop_recording(); });
}

Response Session::start_recording(StartRecord what) {
  if (!pipeline()) return not_posted();
  if (!what.path.empty()) check_recording_path(what.path);
  recordings_.create();
  what.beneath = recordings_.path();
  what.keep_trying = true;
  std::shared_ptr<Pipeline> running;
  uint64_t before = 0;
  std::optional<StartRecord> requested, previous;
  {
    // Hold the lock for all of this, so that swap_pipeline() does not post the recording a second time.
    const std::lock_guard lock(mutex_);
    running = pipeline_;
    before = recorder_status(*running).begun;
    requested = requested_recording(*running);
    if (stopped_ || running->try_post(what) == 0) return not_posted();
    previous = std::exchange(record_, what);
  }
  const SinkStatus now = wait_for_recorder(*running, kFirstPicture, [&](const SinkStatus& s) {
    return stopped_ || (s.begun > before && (!s.problem.empty() || s.frames > 0));
  });
  if (now.begun > before && !now.problem.empty()) {
    // In the viewer, the user may have ended the previous recording with a key.
    const std::optional<StartRecord> earlier = requested || options_.load ? requested : previous;
    if (!earlier || !resume_recording(*earlier, previous.has_value())) stop_recording();
    return {Status::failed, now.problem};
  }
  const std::lock_guard lock(mutex_);
  if (record_) record_->resumed = true;
  // While playback is paused or the source is disconnected there is no picture, so the file has no name yet.
  if (now.begun == before || now.files == 0) return {.data = {{"folder", recordings_.path()}}};
  return {.data = {{"path", now.path}}};
}

/// Throws Error if the recorder would refuse the name of a new recording. The recorder ends the running
/// recording before it opens the new file, so names are checked here.
void Session::check_recording_path(const std::string& path) const {
  RecordSettings settings;
  settings.name = path, settings.encoder.codec = options_.config.record_codec;
  check_record_request(settings);
  // The recorder creates folders with a date or time. The folder before them must exist.
  const std::filesystem::path given(path), fixed(recording_folder(path));
  if (!given.has_parent_path() || given.parent_path() == fixed) {
    recordings_.check(path);
    return;
  }
  recordings_.check_place((fixed / given.filename()).string());
  for (const std::filesystem::path& part : given.lexically_relative(fixed))
    if (part.native().starts_with('.'))
      throw Error(ExitCode::usage, path, "has a hidden folder", "choose another name");
}

/// Resumes the recording that the recorder ended when it began another one, which failed. `kept`: it also
/// continues with the next source. Returns false if the pipeline does not accept the command.
bool Session::resume_recording(StartRecord earlier, bool kept) {
  earlier.resumed = true;
  const std::lock_guard lock(mutex_);
  record_ = kept ? std::optional(earlier) : std::nullopt;
  return !stopped_ && pipeline_->try_post(std::move(earlier)) != 0;
}

Response Session::stop_recording() {
  std::shared_ptr<Pipeline> running;
  SinkStatus before;
  {
    // Hold the lock for all of this, so that swap_pipeline() does not start the recording again.
    const std::lock_guard lock(mutex_);
    running = pipeline_;
    if (running) before = recorder_status(*running);
    if (running && (stopped_ || running->try_post(StopRecord{}) == 0)) return not_posted();
    record_.reset();
  }
  if (!before.wanted) return {};
  const SinkStatus done = wait_for_recorder(*running, options_.record_timeout,
                                            [&](const SinkStatus& s) { return stopped_ || !s.wanted; });
  if (done.failures > before.failures) return {Status::failed, done.problem};
  if (done.wanted)
    return {Status::busy, "the file is not complete yet; the property record shows when it is"};
  return {.data = {{"path", done.path}, {"frames", done.frames}, {"files", done.files}}};
}

void Session::virtual_camera(bool on, std::string name, Reply reply) {
  enqueue(files_, std::move(reply), [this, on, name = std::move(name)]() -> Response {
    const std::shared_ptr<VirtualCamera>& camera = options_.virtual_camera;
    if (!camera) return {Status::refused, "this run has no virtual camera"};
    if (!on) {
      camera->stop();
      return {};
    }
    const std::string& configured = options_.config.output_virtual_camera;
    camera->start(!name.empty() ? name : configured.empty() ? kVirtualCameraName : configured);
    // While no new frame comes, the camera gets the current one.
    if (const auto running = pipeline()) running->wake();
    VirtualCamera::Status status = camera->status();
    for (const int64_t deadline = now_ns() + kCameraTimeoutNs;
         status.state == VirtualCamera::State::waiting && now_ns() < deadline && !stopped_;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      status = camera->status();
    }
    Json data{{"name", status.name}, {"state", lensd::name(status.state)}};
    if (!status.reason.empty()) data["reason"] = status.reason;
    return {.data = std::move(data)};
  });
}

/// Returns another handle to the newest frame. Returns an empty one before the first frame and after stop().
Frame Session::newest_frame() {
  const auto running = pipeline();
  const std::lock_guard lock(frame_mutex_);
  if (!running || stopped_) return {};
  if (!options_.load)
    if (Frame frame = running->take_newest()) newest_ = std::move(frame);
  return newest_ ? newest_.share() : Frame();
}

std::shared_ptr<const EncodedPicture> Session::picture(PictureType type, int64_t made_after_ns) {
  Frame frame = newest_frame();
  if (!frame || stopping_ || frame.info.processed_ns <= made_after_ns) return nullptr;
  if (frame.memory() == MemoryKind::device)
    throw Error(ExitCode::unavailable, "picture", "the frames of this run stay on the GPU",
                "take snapshots in the window, or run lensd serve");
  frame.wait_ready();
  const auto running = pipeline();
  const auto job = std::make_shared<EncodeJob>(std::move(frame), type == PictureType::png ? png_ : jpeg_,
                                               running ? running->status().pixel_aspect : PixelAspect{});
  // Encoding a large PNG takes seconds and cannot be interrupted.
  const bool done = run_owned([job] { job->run(); }, kNoDeadline, &stopping_);
  return done ? job->encoded : nullptr;
}

void Session::stop_soon() noexcept {
  stopping_ = true;
  const std::lock_guard lock(mutex_);
  for (const Flag& flag : {starting_, loading_})
    if (flag) *flag = true;
}

}  // namespace lensd
