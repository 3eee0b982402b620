// The output of a StreamSender: a connection to a receiver, or a device. Internal to core/media. Use on the
// sender's thread only. The destructor closes it.
#pragma once

#include <cstdint>
#include <string>

struct AVPacket;

namespace lensd {

class StreamConnection {
 public:
  virtual ~StreamConnection() = default;

  /// Makes `ticks` (in the encoder's time base) time 0. Call before the first packet.
  virtual void start_at(int64_t ticks) = 0;
  /// Returns 0, or kNotSent if the receiver was not ready and the packet was dropped, or an AVERROR.
  virtual int write(const AVPacket& packet) = 0;
  static constexpr int kNotSent = 1;
  /// Completes the stream. `source_ended`: the source has no more frames. Returns 0 or an AVERROR.
  virtual int complete(bool source_ended) = 0;
  /// Returns the reason for an AVERROR of write(), or an empty string if FFmpeg's text is enough.
  virtual std::string reason(int /*error*/) const { return {}; }
};

}  // namespace lensd
