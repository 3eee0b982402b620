#include "app/pipeline/recorder_sink.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace lensd {
namespace {

/// After a failure, where the recording is to go on.
constexpr int64_t kRetryNs = 5'000'000'000;
/// Footage after which it does go on: a disk that is full takes a header and a few pictures as well.
constexpr double kSureSeconds = 3;

}  // namespace

RecorderSink::RecorderSink(const RecordSettings& settings, const SourceInfo& source)
    : settings_(settings),
      fps_(source.fps > 0 ? source.fps : 25),
      audio_from_(source.has_audio && !source.live ? source.url : ""),
      output_(make_recording(true)) {
  run(source.live);
}

std::unique_ptr<Recording> RecorderSink::make_recording(bool preroll) const {
  RecordSettings settings = settings_;
  if (!preroll) settings.preroll_seconds = 0;
  return std::make_unique<Recording>(settings, fps_, audio_from_);
}

// ---- process thread -------------------------------------------------------------------------------------

void RecorderSink::take(const Frame& frame, const Picture& source) {
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

void RecorderSink::start(const StartRecord& command) {
  session_ = std::make_shared<const StartRecord>(command);
  push({.session = session_});
}

void RecorderSink::stop() {
  if (!session_) return;
  session_.reset();
  push({});
}

// ---- recorder's thread ----------------------------------------------------------------------------------

RecordTarget RecorderSink::target_of(const StartRecord& command) const {
  RecordTarget target;
  target.path = command.path, target.resumed = command.resumed || again_;
  target.rules = {.overwrite = command.overwrite && !target.resumed, .beneath = command.beneath};
  if (!target.path.empty()) return target;
  target.path = settings_.name;
  if (command.beneath.empty()) target.path = (std::filesystem::path(settings_.folder) / target.path).string();
  return target;
}

void RecorderSink::handle(Job& job) {
  if (job.session != current_) change_session(job.session);
  if (current_ && !active_ && current_->keep_trying && now_ns() >= retry_ns_) begin(true);
  if (job.frame || job.picture) write(job);
  update_status();
}

void RecorderSink::change_session(const std::shared_ptr<const StartRecord>& session) {
  end_session();
  current_ = session;
  if (session) {
    before_frames_ = before_bytes_ = before_files_ = 0;
    frames_ = bytes_ = files_ = 0;
    {
      const std::lock_guard lock(text_mutex_);
      path_.clear(), problem_.clear();
    }
    begin(false);
  }
  wanted_.store(session != nullptr, std::memory_order_release);
}

void RecorderSink::begin(bool again) {
  again_ = again;
  try {
    if (current_->what == StartRecord::What::source) {
      source_ = make_recording(false);
      active_ = source_.get();
    } else {
      active_ = output_.get();
    }
    active_->start(target_of(*current_));
  } catch (const Error& error) {
    broke_off(error.what());
  }
  if (!again) begun_.fetch_add(1, std::memory_order_release);
}

/// Completes what is there, and tells of it.
void RecorderSink::end_session() {
  Recording* const recording = std::exchange(active_, nullptr);
  if (!recording) return;
  active_ = recording;
  try {
    recording->stop();
  } catch (const Error& error) {
    return broke_off(error.what());
  }
  update_status();
  active_ = nullptr;
  const uint64_t lost = dropped() - std::exchange(dropped_told_, dropped());
  if (frames_ == 0) return notice(false, "nothing was recorded: no frame came");
  const std::string path = recording->report().path;
  notice(false, fmt::format("recorded {} frames to {}{}{}", frames_.load(), path,
                            files_ > 1 ? fmt::format(", the last of {} files", files_.load()) : "",
                            lost ? fmt::format("; {} frames lost, the recorder was behind", lost) : ""));
}

void RecorderSink::write(const Job& job) {
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
    if (again_ && active_ && static_cast<double>(recording.report().frames) > kSureSeconds * fps_) {
      again_ = false;
      notice(false, "recording again, to " + recording.report().path);
      const std::lock_guard lock(text_mutex_);
      problem_.clear();
    }
  } catch (const Error& error) {
    if (active_)
      broke_off(error.what());
    else if (!std::exchange(told_device_, true))
      tell(error.what());
  }
}

void RecorderSink::complete() {
  end_session();
  output_.reset();
  source_.reset();
  wanted_ = false;
  update_status();
}

/// The recording at hand has ended by itself, with what was written so far.
void RecorderSink::broke_off(const std::string& problem) {
  if (Recording* const recording = std::exchange(active_, nullptr)) {
    const Recording::Report done = recording->report();
    before_frames_ += done.frames, before_bytes_ += done.bytes,
        before_files_ += done.frames > 0 ? done.files : 0;
  }
  retry_ns_ = now_ns() + kRetryNs;
  {
    const std::lock_guard lock(text_mutex_);
    problem_ = problem;
  }
  // Attempts that fail again are not told again.
  if (std::exchange(again_, false)) return;
  failures_.fetch_add(1, std::memory_order_relaxed);
  tell(problem);
}

void RecorderSink::tell(const std::string& problem) {
  if (failure_.empty()) failure_ = problem;
  const bool tried_again = current_ && current_->keep_trying && before_frames_ > 0;
  notice(true, fmt::format("recording stopped: {}{}", problem, tried_again ? "; it is tried again" : ""));
}

void RecorderSink::update_status() {
  if (active_) {
    Recording::Report now = active_->report();
    frames_.store(before_frames_ + now.frames, std::memory_order_relaxed);
    bytes_.store(before_bytes_ + now.bytes, std::memory_order_relaxed);
    files_.store(before_files_ + now.files, std::memory_order_relaxed);
    const std::lock_guard lock(text_mutex_);
    path_ = now.files > 0 ? std::move(now.path) : std::string();  // a template before
  }
  recording_.store(active_ && active_->active(), std::memory_order_release);
}

SinkStatus RecorderSink::status() const {
  SinkStatus s;
  s.begun = begun_.load(std::memory_order_acquire);
  s.recording = recording_, s.wanted = wanted_, s.failures = failures_;
  s.frames = frames_, s.bytes = bytes_, s.files = files_;
  s.dropped = dropped();
  const std::lock_guard lock(text_mutex_);
  s.path = path_, s.problem = problem_;
  return s;
}

}  // namespace lensd
