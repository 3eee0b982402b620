// Sends the output of a running pipeline to a receiver; see StreamOutput.
#pragma once

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

  StreamOutput output_;
};

}  // namespace lensd
