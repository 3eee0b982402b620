// Counts the errors of a stream and reports them in one sentence. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "core/media/input/input.hpp"

namespace lensd {

class StreamErrors {
 public:
  void packet_read(const AVPacket& packet);
  /// Call after each packet sent to the decoder and each frame received from it. `failed`: the decoder
  /// returned an error. `logged_errors`: the errors that it has logged so far. Several errors in one step
  /// count once.
  void step_done(bool failed, int logged_errors);
  /// Ignores all errors that the decoder has logged so far. `logged_errors`: number of these errors.
  void ignore_logged(int logged_errors) { logged_errors_ = logged_errors; }
  /// Call after a seek. From then on, errors that are only logged are not counted, and the number of packets
  /// is not compared with the announced number.
  void seek_done() { from_start_ = false; }

  /// Call at the end of the stream. `error`: the demuxer's last result. `announced_ns`: the stream's
  /// announced duration, 0 if unknown. `frame_ns`: nominal duration of a frame. A stream that is only
  /// shorter than announced has no error, because the last frame may be shown for a long time.
  void ended(const Input& input, int error, int64_t announced_ns, int64_t frame_ns);

  /// Returns a sentence about all errors; empty if there was none.
  std::string sentence() const;

 private:
  bool frames_missing(const Input& input, int64_t end_ns, int64_t announced_ns, int64_t frame_ns) const;

  int64_t packets_ = 0, decode_errors_ = 0;
  int64_t end_ticks_ = AV_NOPTS_VALUE;  ///< latest end of a packet, in the stream's time base
  int logged_errors_ = 0;
  bool from_start_ = true;
  /// Number of packets after the last corrupt one. At the end of the stream, 0 or 1 means a truncated file; a
  /// parser may flag the picture before the last one instead of the last. Earlier corrupt packets do not
  /// count, because joined files have them.
  int64_t after_corrupt_ = 2;
  std::string early_end_;
};

}  // namespace lensd
