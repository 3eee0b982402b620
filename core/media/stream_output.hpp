// The result sent to a receiver while the pipeline runs: RTSP, RTMP, SRT, UDP, RTP, an HLS playlist, a v4l2
// loopback device.
//
//   frames ── write() ──▶ [encoder] ──▶ bounded queue of packets ──▶ StreamSender's thread ──▶ receiver
//
// A receiver that is slow, away or gone never holds the frames up: packets are dropped up to the next key
// frame and counted, and the sender connects again, at first after 250 ms, then at most every 5 s. Every call
// into FFmpeg's network code has a deadline. A StreamOutput belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/image/frame.hpp"
#include "core/media/encoder_options.hpp"

namespace lensd {

/// True for an address or device that frames are sent to at their own pace, instead of a file.
bool is_stream_target(const std::string& target);
/// Throws Error(usage) where it is none.
void check_stream_url(const std::string& url);

class StreamOutput {
 public:
  struct Options {
    std::string url;
    EncoderOptions encoder;
    double fps = 25;
    std::string audio_from;  ///< source file whose audio is copied along, or empty
  };
  /// Throws Error(usage) when `url` is no stream target.
  explicit StreamOutput(const Options& options);
  /// Ends as finish() does.
  ~StreamOutput();

  /// Encodes; never waits for the receiver. Throws Error when the encoder does not start or fails.
  void write(ConstImageRef image, const FrameInfo& info);
  /// Sends what is left, for a second at most.
  void finish();

  enum class State : uint8_t { idle, connecting, sending, waiting };
  /// Any thread.
  State state() const noexcept;
  int64_t sent() const noexcept;  ///< frames
  int64_t bytes() const noexcept;
  uint64_t dropped() const noexcept;  ///< frames that the receiver was too slow or not there for
  int64_t connections() const noexcept;
  /// The next thing to tell about the receiver, or empty; `problem` says of which kind it is.
  std::string take_notice(bool& problem);
  /// The target without user name, password and query.
  const std::string& shown_url() const noexcept;

 private:
  struct Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace lensd
