#include "app/pipeline/stream_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace lensd {
namespace {

/// First and longest pause before a failed encoder is started again. Each failure doubles the pause.
constexpr int64_t kFirstPauseNs = 500'000'000, kLastPauseNs = 30'000'000'000;
/// The pause becomes kFirstPauseNs again after the encoder has worked for this time.
constexpr int64_t kWorksNs = 10'000'000'000;

}  // namespace

StreamSink::StreamSink(const std::string& url, const EncoderOptions& encoder, const SourceInfo& source,
                       const AudioChoice& audio, TlsCheck tls)
    : QueueSink(source.fps > 0 ? source.fps : 25),
      pause_ns_(kFirstPauseNs),
      output_(
          {.url = url, .encoder = encoder, .fps = fps(), .audio_from = audio_of(source, audio), .tls = tls}) {
  run(source.live);
}

void StreamSink::handle(Job& job) {
  if (!job.frame) return;
  has_frames_ = true;
  if (now_ns() < retry_ns_) {
    ++lost_;
    return;
  }
  try {
    output_.set_rate(fps());
    output_.write(host_image(job.frame), job.info, job.aspect);
    note_success();
  } catch (const std::exception& error) {
    note_failure(error.what());
  }
}

/// Ends the encoder and sets the time of the next attempt. Adds one notice per outage, not one per attempt.
void StreamSink::note_failure(const std::string& reason) {
  output_.abandon();
  ++lost_;
  retry_ns_ = now_ns() + pause_ns_;
  pause_ns_ = std::min(pause_ns_ * 2, kLastPauseNs);
  failure_ = reason;
  set_reason(reason);
  if (!std::exchange(failure_reported_, true)) notice(true, "stream stopped: " + reason + "; retrying");
}

void StreamSink::note_success() {
  if (!failure_.empty()) {
    failure_.clear();
    set_reason({});
    works_since_ns_ = now_ns();
  } else if (failure_reported_ && now_ns() - works_since_ns_ >= kWorksNs) {
    failure_reported_ = false;
    pause_ns_ = kFirstPauseNs;
  }
}

void StreamSink::set_reason(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  reason_ = reason;
}

void StreamSink::complete() {
  try {
    output_.finish();
  } catch (const std::exception& error) {
    if (failure_.empty()) failure_ = error.what();
  }
  if (!failure_.empty() || !has_frames_ || output_.status().sent > 0) return;
  std::string problem = output_.last_problem();
  // A connection sends nothing before a key frame. An attempt that is still in progress at the end of the run
  // has no result yet.
  if (problem.empty())
    problem =
        output_.connected() ? "the receiver answered too late" : "no receiver has answered before the end";
  failure_ = fmt::format("{}: nothing was sent: {}", output_.shown_url(), problem);
}

std::vector<Notice> StreamSink::take_notices() {
  std::vector<Notice> notices = QueueSink::take_notices();
  append(notices, output_.take_notices());
  return notices;
}

SinkStatus StreamSink::status() const {
  static constexpr const char* kStates[] = {"idle", "connecting", "sending", "waiting"};
  SinkStatus s;
  s.kind = SinkKind::stream;
  const StreamOutput::Status output = output_.status();
  s.state = kStates[static_cast<size_t>(output.state)];
  s.problem = output.reason;
  s.path = output_.shown_url();
  s.frames = output.sent, s.bytes = output.bytes, s.dropped = dropped() + output.dropped + lost_;
  const std::lock_guard lock(mutex_);
  if (!reason_.empty()) s.state = "waiting", s.problem = reason_;
  s.active = s.state == "sending";
  return s;
}

}  // namespace lensd
