#include "app/recorder_tap.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"

namespace lensd {

RecorderTap::RecorderTap(const RecordSettings& settings, const SourceInfo& source)
    : settings_(settings),
      fps_(source.fps > 0 ? source.fps : 25),
      audio_from_(source.has_audio && !source.live ? source.url : ""),
      output_(make_recording(true)) {
  run(source.live);
}

std::unique_ptr<Recording> RecorderTap::make_recording(bool preroll) const {
  RecordSettings settings = settings_;
  if (!preroll) settings.preroll_seconds = 0;
  return std::make_unique<Recording>(settings, fps_, audio_from_);
}

// ---- process thread -------------------------------------------------------------------------------------

void RecorderTap::take(const Frame& frame, const Picture& source) {
  if (!session_ && settings_.preroll_seconds <= 0) return;
  if (frame.info.placeholder) return;  // "no picture" is no picture
  Job job;
  job.session = session_;
  if (session_ && session_->what == StartRecord::What::source)
    job.picture = source.share();
  else
    job.frame = frame.share();
  job.info = frame.info;
  push(std::move(job));
}

void RecorderTap::start(const StartRecord& command) {
  session_ = std::make_shared<const StartRecord>(command);
  push({.session = session_});
}

void RecorderTap::stop() {
  if (!session_) return;
  session_.reset();
  push({});
}

// ---- recorder's thread ----------------------------------------------------------------------------------

RecordTarget RecorderTap::target_of(const StartRecord& command) const {
  RecordTarget target{command.path, {.overwrite = command.overwrite, .beneath = command.beneath}};
  if (!target.path.empty()) return target;
  target.path = settings_.name;
  if (command.beneath.empty()) target.path = (std::filesystem::path(settings_.folder) / target.path).string();
  return target;
}

void RecorderTap::handle(Job& job) {
  if (job.session != current_) change_session(job.session);
  if (job.frame || job.picture) write(job);
  update_status(active_ && active_->active());
}

void RecorderTap::change_session(const std::shared_ptr<const StartRecord>& session) {
  end_session();
  current_ = session;
  if (!session) return;
  try {
    if (session->what == StartRecord::What::source) {
      source_ = make_recording(false);
      active_ = source_.get();
    } else {
      active_ = output_.get();
    }
    active_->start(target_of(*session));
  } catch (const Error& error) {
    active_ = nullptr;
    tell(error.what());
  }
}

void RecorderTap::end_session() {
  Recording* const recording = std::exchange(active_, nullptr);
  if (!recording) return;
  try {
    if (!recording->active()) return;  // it has failed, which was told
    recording->stop();
    const Recording::Report done = recording->report();
    const uint64_t lost = dropped() - std::exchange(dropped_told_, dropped());
    frames_ = done.frames, bytes_ = done.bytes, files_ = done.files;
    if (done.frames == 0) return notice(false, "nothing was recorded: no frame came");
    notice(false, fmt::format("recorded {} frames to {}{}{}", done.frames, done.path,
                              done.files > 1 ? fmt::format(", the last of {} files", done.files) : "",
                              lost ? fmt::format("; {} frames lost, the recorder was behind", lost) : ""));
  } catch (const Error& error) {
    tell(error.what());
  }
}

void RecorderTap::write(const Job& job) {
  Recording& recording = active_ ? *active_ : *output_;
  try {
    if (job.picture) {
      if (job.picture.planes.memory == MemoryKind::device)
        throw Error(ExitCode::runtime_failure, "recording", "the decoded pictures stay on the GPU",
                    "use --hwdec=no to record the source");
      const Orientation& turn = job.picture.planes.info.orientation;
      if (turn != Orientation{} && !std::exchange(told_turn_, true))
        notice(false, "the source is recorded as it is stored, without the turn that brings it upright");
      if (active_) recording.write(job.picture.planes, job.info);
    } else {
      recording.write(host_image(job.frame), job.info);
    }
    if (const std::string text = recording.take_notice(); !text.empty()) notice(false, text);
  } catch (const Error& error) {
    const bool was_asked_for = std::exchange(active_, nullptr) != nullptr;
    if (was_asked_for || !std::exchange(told_device_, true)) tell(error.what());
  }
}

void RecorderTap::complete() {
  end_session();
  output_.reset();
  source_.reset();
  update_status(false);
}

void RecorderTap::tell(const std::string& problem) {
  if (failure_.empty()) failure_ = problem;
  notice(true, "recording stopped: " + problem);
}

void RecorderTap::update_status(bool recording) {
  if (active_) {
    Recording::Report now = active_->report();
    frames_.store(now.frames, std::memory_order_relaxed);
    bytes_.store(now.bytes, std::memory_order_relaxed);
    files_.store(now.files, std::memory_order_relaxed);
    const std::lock_guard lock(path_mutex_);
    path_ = std::move(now.path);
  }
  recording_.store(recording, std::memory_order_release);
}

SinkStatus RecorderTap::status() const {
  SinkStatus s;
  s.recording = recording_, s.frames = frames_, s.bytes = bytes_, s.files = files_;
  s.dropped = dropped();
  const std::lock_guard lock(path_mutex_);
  s.path = path_;
  return s;
}

}  // namespace lensd
