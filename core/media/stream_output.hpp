// Sends a running pipeline's frames to a receiver: RTSP, RTMP, SRT, UDP, RTP, an HLS playlist or a
// V4L2 device.
//
//   frames ── write() ──▶ [encoder] ──▶ bounded queue of packets ──▶ StreamSender's thread ──▶ receiver
//
// A slow or missing receiver does not block write(), except after a change of format. If the queue is full,
// packets up to the next key frame are dropped and counted. The sender reconnects after 250 ms; the delay
// doubles with each attempt, up to 5 s, until a connection has lasted for 10 s. Every call into FFmpeg's
// network code has a deadline. Use a StreamOutput on one thread, except functions marked thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/notices.hpp"
#include "core/image/frame.hpp"
#include "core/image/pixel_aspect.hpp"
#include "core/media/audio_source.hpp"
#include "core/media/encoder_options.hpp"
#include "core/media/tls_check.hpp"

namespace lensd {

/// Returns true for an address, a playlist (.m3u8) or a device that StreamOutput can send to.
bool is_stream_target(const std::string& target);
/// Throws Error(usage) if `url` is too long, is not a stream target or has no valid port, and if
/// check_playlist_path() throws. Throws Error(unavailable) if the receiver's certificate must be verified but
/// cannot be verified, for example with rtsps.
void check_stream_url(const std::string& url, TlsCheck tls);
/// Throws Error(usage) if there is no encoder `codec`, or if the container of the stream target `url` does
/// not support it. `url` may be empty: any container.
void check_stream_codec(const std::string& url, const std::string& codec);

class StreamOutput {
 public:
  struct Options {
    std::string url;
    EncoderOptions encoder;
    double fps = 25;
    AudioSource audio_from;
    TlsCheck tls = TlsCheck::automatic;  ///< check of the certificate of an rtmps receiver
  };
  /// Throws like check_stream_url().
  explicit StreamOutput(const Options& options);
  /// Calls finish(); ignores errors.
  ~StreamOutput();

  /// Encodes a frame and queues its packets. If the encoder cannot adapt to a new size, format, aspect or
  /// tags, or if a live source's audio changes, ends the stream like finish() and starts a new one. Otherwise
  /// does not wait for the receiver. Throws Error if the encoder does not start or fails.
  void write(ConstImageRef image, const FrameInfo& info, PixelAspect aspect = {});
  /// Ends the encoder and the connection after write() has thrown. The next write() starts new ones.
  void abandon() noexcept;
  /// Sets the frames per second that the next encoder announces. The running encoder keeps its rate.
  void set_rate(double fps) noexcept;
  /// Sends the queued packets, for at most a second, then closes the connection. Throws Error if the encoder
  /// fails or segments of a playlist are missing.
  void finish();
  /// Makes finish() mark an HLS playlist as ended. Call if the source has no more frames. Without it players
  /// wait for more, for example until the program runs again. Thread-safe.
  void source_ended() noexcept;

  enum class State : uint8_t { idle, connecting, sending, waiting };
  struct Status {
    State state = State::idle;
    int64_t sent = 0, bytes = 0;  ///< frames and bytes sent
    uint64_t dropped = 0;         ///< frames not sent, because there was no receiver or it was too slow
    std::string reason;           ///< why there is no connection; empty while there is one
  };
  /// Returns the stream's state and counters. Thread-safe.
  Status status() const;
  /// Returns why the last attempt to connect failed or the last connection was lost; empty if neither has
  /// happened. Remains available after finish(). Thread-safe.
  std::string last_problem() const;
  /// Returns true if a connection was made. Remains available after finish(). Thread-safe.
  bool connected() const noexcept;
  /// Returns the messages about the receiver and the encoder since the last call. Thread-safe.
  std::vector<Notice> take_notices();
  /// Returns the target without secrets, see url_without_secrets().
  const std::string& shown_url() const noexcept;

 private:
  struct Encoding;
  std::unique_ptr<Encoding> encoding_;
};

}  // namespace lensd
