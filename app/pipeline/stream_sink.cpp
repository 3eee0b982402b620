#include "app/pipeline/stream_sink.hpp"

#include <exception>

#include "core/base/error.hpp"

namespace lensd {

StreamSink::StreamSink(const std::string& url, const EncoderOptions& encoder, const SourceInfo& source,
                       const AudioChoice& audio, TlsCheck tls)
    : QueueSink(source.fps > 0 ? source.fps : 25),
      output_(
          {.url = url, .encoder = encoder, .fps = fps(), .audio_from = audio_of(source, audio), .tls = tls}) {
  run(source.live);
}

void StreamSink::handle(Job& job) {
  if (!job.frame || !failure_.empty()) return;
  try {
    output_.set_rate(fps());
    output_.write(host_image(job.frame), job.info, job.aspect);
  } catch (const std::exception& error) {
    failure_ = error.what();
    notice(true, "stream stopped: " + failure_);
  }
}

void StreamSink::complete() {
  try {
    output_.finish();
  } catch (const std::exception& error) {
    if (failure_.empty()) failure_ = error.what();
  }
}

std::vector<Notice> StreamSink::take_notices() {
  std::vector<Notice> notices = QueueSink::take_notices();
  for (Notice& notice : output_.take_notices()) notices.push_back(std::move(notice));
  return notices;
}

SinkStatus StreamSink::status() const {
  static constexpr const char* kStates[] = {"idle", "connecting", "sending", "waiting"};
  SinkStatus s;
  s.kind = SinkKind::stream;
  const StreamOutput::Status output = output_.status();
  s.recording = output.state == StreamOutput::State::sending;
  s.state = kStates[static_cast<size_t>(output.state)];
  s.path = output_.shown_url();
  s.frames = output.sent, s.bytes = output.bytes, s.dropped = dropped() + output.dropped;
  return s;
}

}  // namespace lensd
