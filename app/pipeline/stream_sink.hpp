// The result of a running pipeline sent to a receiver; see core/media/stream_output.hpp.
#pragma once

#include "app/pipeline/queue_sink.hpp"
#include "core/media/source.hpp"
#include "core/media/stream_output.hpp"

namespace lensd {

class StreamSink final : public QueueSink {
 public:
  /// Throws Error(usage) when nothing can be sent to `url`.
  StreamSink(const std::string& url, const EncoderOptions& encoder, const SourceInfo& source);
  ~StreamSink() override { finish(); }

  void take(const Frame& frame, const Picture& source) override;
  SinkStatus status() const override;
  std::vector<SinkNotice> take_notices() override;
  /// Why the encoder does not run; empty: it does. After finish().
  const std::string& failure() const { return failure_; }

 private:
  void handle(Job& job) override;
  void complete() override;

  StreamOutput output_;
  std::string failure_;  // sink's thread
};

}  // namespace lensd
