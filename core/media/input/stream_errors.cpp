#include "core/media/input/stream_errors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/clock.hpp"

namespace lensd {

void StreamErrors::packet_read(const AVPacket& packet) {
  ++packets_;
  corrupt_packet_ = corrupt_packet_ || (packet.flags & AV_PKT_FLAG_CORRUPT);
}

void StreamErrors::step_done(bool failed, int logged_errors) {
  // After a seek, decoders log errors about references before the key frame.
  const bool logged = from_start_ && logged_errors != logged_errors_;
  logged_errors_ = logged_errors;
  if (failed || logged) ++decode_errors_;
}

void StreamErrors::ended(const AVFormatContext& input, const AVStream& stream, int error, int64_t end_ns,
                         int64_t announced_ns, int64_t frame_ns) {
  const int read_error = error != AVERROR_EOF ? error : input.pb ? input.pb->error : 0;
  const int64_t announced = stream.nb_frames;
  // Announced counts and durations are often off by a frame. AVI files also omit repeated frames, so that the
  // count is ignored where a duration is known.
  const bool frames_missing =
      announced > 0 && from_start_ && packets_ + std::max<int64_t>(1, announced / 500) < announced;
  const bool duration_known = announced_ns > 0;
  const bool time_missing =
      duration_known && end_ns + std::max(announced_ns / 100, frame_ns + frame_ns / 2) < announced_ns;
  if (frames_missing && (time_missing || !duration_known)) {
    early_end_ = fmt::format("it has {} of {} announced frames", packets_, announced);
  } else if (time_missing && end_ns + 4 * frame_ns < announced_ns) {
    early_end_ = fmt::format("it has {:.2f} of {:.2f} s", to_s(end_ns), to_s(announced_ns));
  } else if (corrupt_packet_) {
    early_end_ = "its last packet is cut";
  } else if (input.flags & AVFMT_FLAG_IGNIDX) {  // see Input::open_file()
    early_end_ = "its last fragment is cut";
  } else if (read_error < 0 && read_error != AVERROR_EOF) {
    early_end_ = ff::error_text(read_error);
  }
}

std::string StreamErrors::sentence() const {
  const std::string errors =
      decode_errors_ == 0 ? ""
                          : fmt::format("{} decode error{}", decode_errors_, decode_errors_ == 1 ? "" : "s");
  if (early_end_.empty()) return errors;
  const std::string early = "the file ends early: " + early_end_;
  return errors.empty() ? early : early + "; " + errors;
}

}  // namespace lensd
