#include "app/pipeline/recorder_sink.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <exception>
#include <filesystem>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {
namespace {

constexpr int64_t kRetryNs = 5'000'000'000;
/// A restarted recording counts as a success after this duration, because a full disk may still take the
/// header and a few frames.
constexpr double kSuccessSeconds = 3;
/// The recorder's thread waits at most this long for the reader of a pipe. Meanwhile, the playback of a file
/// stops.
constexpr int64_t kReaderTimeoutNs = 2'000'000'000;

/// Returns true for pipes and devices. They have no content to keep, so a retry writes to them again.
bool has_no_content(const StartRecord& command) {
  return command.beneath.empty() && is_special_file(command.path);
}

}  // namespace

RecorderSink::RecorderSink(const RecordSettings& settings, const SourceInfo& source, const AudioChoice& audio)
    : QueueSink(source.fps > 0 ? source.fps : 25),
      settings_(settings),
      live_(source.live),
      audio_from_(audio_of(source, audio)),
      wants_all_(settings.preroll_seconds > 0),
      output_(make_recording(true)) {
  run(source.live);
}

std::unique_ptr<Recording> RecorderSink::make_recording(bool preroll) const {
  RecordSettings settings = settings_;
  settings.own_writer = live_;
  if (!preroll) settings.preroll_seconds = 0;
  return std::make_unique<Recording>(settings, fps(), audio_from_, &abandon());
}

// ---- process thread -------------------------------------------------------------------------------------

void RecorderSink::arriving(const Arrival& arrival) {
  QueueSink::arriving(arrival);
  const uint64_t missed = arrival.dropped - std::exchange(dropped_before_, arrival.dropped);
  // Pictures that were dropped before the first frame are not missing in the recording.
  if (session_ && !std::exchange(first_, false)) missed_.fetch_add(missed, std::memory_order_relaxed);
}

void RecorderSink::take(const Frame& frame, const Picture& source, const PixelAspects& aspects) {
  if (!session_ && settings_.preroll_seconds <= 0) return;
  if (frame.info.placeholder) return;
  const bool record_source = session_ && session_->what == StartRecord::What::source;
  push({.frame = record_source ? Frame() : frame.share(),
        .picture = record_source ? source.share() : Picture(),
        .info = frame.info,
        .aspect = record_source ? aspects.source : aspects.output,
        .session = session_,
        .losses = losses()});
}

void RecorderSink::start(const StartRecord& command) {
  session_ = std::make_shared<const StartRecord>(command);
  first_ = true;
  set_requested(session_);
  wants_all_.store(true, std::memory_order_relaxed);
  push({.session = session_, .losses = losses()});
}

void RecorderSink::stop() {
  if (!session_) return;
  session_.reset();
  set_requested(nullptr);
  push({.losses = losses()});  // may wait for space in the queue, as for a frame of a burst
  wants_all_.store(settings_.preroll_seconds > 0, std::memory_order_relaxed);
}

RecorderSink::Losses RecorderSink::losses() const {
  return {dropped(), missed_.load(std::memory_order_relaxed)};
}

// ---- recorder's thread ----------------------------------------------------------------------------------

RecordTarget RecorderSink::target_of(const StartRecord& command) const {
  RecordTarget target;
  target.path = command.path, target.resumed = (command.resumed || retrying_) && !has_no_content(command);
  target.rules = {.overwrite = command.overwrite && !target.resumed,
                  .next_free = command.next_free,
                  .beneath = command.beneath,
                  .reader_timeout_ns = settings_.no_timeouts ? 0 : kReaderTimeoutNs,
                  .stop = &abandon()};
  if (!target.path.empty()) return target;
  target.path = settings_.name;
  if (command.beneath.empty()) target.path = (std::filesystem::path(settings_.folder) / target.path).string();
  return target;
}

void RecorderSink::handle(Job& job) {
  if (job.session != current_) change_session(job.session, job.losses);
  if (current_ && !active_ && current_->keep_trying && now_ns() >= retry_ns_) begin(true);
  if (job.frame || job.picture) write(job);
  publish_status();
}

void RecorderSink::change_session(const std::shared_ptr<const StartRecord>& session, const Losses& losses) {
  end_session(losses);
  current_ = session;
  state_.wanted = session != nullptr;
  if (!session) return;
  earlier_ = {};
  state_.frames = state_.bytes = state_.files = 0;
  state_.path.clear(), state_.problem.clear();
  begin(false);
  ++state_.begun;
}

void RecorderSink::begin(bool retry) {
  retrying_ = retry;
  try {
    if (current_->what == StartRecord::What::source) {
      source_ = make_recording(false);
      active_ = source_.get();
    } else {
      active_ = output_.get();
    }
    active_->start(target_of(*current_));
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

/// Completes the file of the active recording. Returns false if there is none or it fails.
bool RecorderSink::complete_file() {
  if (!active_) return false;
  try {
    active_->stop();
    return true;
  } catch (const std::exception& error) {
    fail(error.what(), true);
    return false;
  }
}

/// Ends the recording, completes its file and reports it in a notice, unless it has failed. `losses`: the
/// totals when the process thread ended the recording, because this thread handles that later.
void RecorderSink::end_session(const Losses& losses) {
  const Losses before = std::exchange(losses_before_, losses);
  if (!current_) return;  // losses of a pre-roll are not reported
  const uint64_t lost = losses.dropped - before.dropped, missed = losses.missed - before.missed;
  const bool completed = complete_file();
  if (!completed) return;
  publish_status();
  const std::string path = std::exchange(active_, nullptr)->report().path;
  if (state_.frames == 0) return notice(false, "nothing was recorded: no frame arrived");
  notice(false, fmt::format("recorded {} frames to {}{}{}{}", state_.frames, path,
                            state_.files > 1 ? fmt::format(", the last of {} files", state_.files) : "",
                            lost ? fmt::format("; {} frames lost, the recorder was too slow", lost) : "",
                            missed ? fmt::format("; {} frames lost before the recorder", missed) : ""));
}

void RecorderSink::write(const Job& job) {
  Recording& recording = active_ ? *active_ : *output_;
  recording.set_rate(fps());
  try {
    if (job.picture) {
      if (job.picture.planes.memory == MemoryKind::device)
        throw Error(ExitCode::runtime_failure, "recording", "the decoded pictures stay on the GPU",
                    "use --hwdec=no to record the source");
      if (active_) recording.write(job.picture.planes, job.info, job.aspect);
    } else {
      recording.write(host_image(job.frame), job.info, job.aspect);
    }
    if (Notice n = recording.take_notice(); !n.text.empty()) notice(n.problem, std::move(n.text));
    if (retrying_ && active_ && static_cast<double>(recording.report().frames) > kSuccessSeconds * fps()) {
      retrying_ = false;
      notice(false, "recording again, to " + recording.report().path);
      state_.problem.clear();
    }
  } catch (const std::exception& error) {
    if (active_)
      fail(error.what());
    else if (!std::exchange(preroll_failed_, true))
      report_failure(error.what(), retries());
  }
}

void RecorderSink::complete() {
  if (source_ended_ && active_) active_->source_ended();
  end_session(losses());
  output_.reset();
  source_.reset();
  state_.wanted = false;
  publish_status();
}

/// Ends the active recording after an error and sets the time of the next attempt. Reports the error, unless
/// an attempt to restart has failed. The file keeps its complete fragments. `ends`: there is no next attempt,
/// because the recording was stopped.
void RecorderSink::fail(const std::string& problem, bool ends) {
  if (Recording* const recording = std::exchange(active_, nullptr)) {
    const Recording::Report done = recording->report();
    earlier_.frames += done.frames, earlier_.bytes += done.bytes;
    if (done.frames > 0) earlier_.files += done.files;
    // The number of frames may decrease, because the frames of an incomplete fragment are lost.
    state_.frames = earlier_.frames, state_.bytes = earlier_.bytes, state_.files = earlier_.files;
  }
  if (current_ && !current_->keep_trying) {
    const std::lock_guard lock(mutex_);
    if (requested_ == current_) requested_.reset();
  }
  retry_ns_ = now_ns() + kRetryNs;
  state_.problem = problem;
  if (std::exchange(retrying_, false)) return;  // the first failure was reported already
  ++state_.failures;
  report_failure(problem, !ends && retries());
}

void RecorderSink::report_failure(const std::string& problem, bool again) {
  if (failure_.empty()) failure_ = problem;
  notice(true, fmt::format("recording stopped: {}{}", problem, again ? "; retrying" : ""));
}

void RecorderSink::publish_status() {
  if (active_) {
    Recording::Report now = active_->report();
    state_.frames = earlier_.frames + now.frames;
    state_.bytes = earlier_.bytes + now.bytes;
    state_.files = earlier_.files + now.files;
    // Before the first file, the report's path is a template.
    state_.path = now.files > 0 ? std::move(now.path) : std::string();
  }
  state_.active = active_ && active_->active();
  const std::lock_guard lock(mutex_);
  status_ = state_;
}

void RecorderSink::set_requested(const std::shared_ptr<const StartRecord>& command) {
  const std::lock_guard lock(mutex_);
  requested_ = command;
}

std::optional<StartRecord> RecorderSink::requested() const {
  const std::lock_guard lock(mutex_);
  return requested_ ? std::optional(*requested_) : std::nullopt;
}

SinkStatus RecorderSink::status() const {
  const std::lock_guard lock(mutex_);
  SinkStatus s = status_;
  s.dropped = dropped(), s.missed = missed_;
  return s;
}

}  // namespace lensd
