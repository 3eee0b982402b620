// Sends the output of a running pipeline to a receiver; see StreamOutput.
//
// If the encoder fails, the stream ends and starts again after 0.5 s. The pause doubles with each failure, up
// to 30 s, until the encoder has worked for 10 s. The frames in between are lost and counted. After finish(),
// failure() has the reason if frames arrived and none was sent.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "app/pipeline/queue_sink.hpp"
#include "core/media/source.hpp"
#include "core/media/stream_output.hpp"

namespace lensd {

class StreamSink final : public QueueSink {
 public:
  /// Throws as check_stream_url() does.
  StreamSink(const std::string& url, const EncoderOptions& encoder, const SourceInfo& source,
             const AudioChoice& audio = {}, TlsCheck tls = TlsCheck::automatic);
  ~StreamSink() override { finish(); }

  void take(const Frame& frame, const Picture&, const PixelAspects& aspects) override {
    push({.frame = frame.share(), .info = frame.info, .aspect = aspects.output});
  }
  /// Call before finish() if the source has no more frames; see StreamOutput::source_ended().
  void source_ended() noexcept { output_.source_ended(); }
  SinkStatus status() const override;
  std::vector<Notice> take_notices() override;

 private:
  void handle(Job& job) override;
  void complete() override;
  void note_failure(const std::string& reason);
  void note_success();
  void set_reason(const std::string& reason);

  // Used by the sink's thread only.
  int64_t retry_ns_ = 0;           ///< time of the next attempt
  int64_t pause_ns_;               ///< wait between the next failure and the attempt after it
  int64_t works_since_ns_ = 0;     ///< time of the first success after the last failure
  bool failure_reported_ = false;  ///< the current outage was reported
  bool has_frames_ = false;        ///< frames arrived

  std::atomic<uint64_t> lost_{0};  ///< frames without an encoder
  mutable std::mutex mutex_;
  std::string reason_;  ///< why there is no encoder; protected by mutex_
  StreamOutput output_;
};

}  // namespace lensd
