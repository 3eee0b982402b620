#include "core/media/input/stream_errors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/clock.hpp"

namespace lensd {

void StreamErrors::packet_read(const AVPacket& packet) {
  ++packets_;
  cut_packet_ = cut_packet_ || (packet.flags & AV_PKT_FLAG_CORRUPT);
}

void StreamErrors::step_done(bool failed, int complaints) {
  // After a seek, decoders complain about references that lie before the key frame.
  const bool complained = from_start_ && complaints != complaints_;
  complaints_ = complaints;
  if (failed || complained) ++decode_errors_;
}

void StreamErrors::ended(const AVFormatContext& input, const AVStream& stream, int error, int64_t end_ns,
                         int64_t announced_ns, int64_t frame_ns) {
  const int read_error = error != AVERROR_EOF ? error : input.pb ? input.pb->error : 0;
  const int64_t announced = stream.nb_frames;
  // Headers are often off by a frame or so; only a clear lack is called stream_errors. AVI files also leave
  // frames out to keep time, so that a count alone says nothing where a duration is known.
  const bool count_lacks =
      announced > 0 && from_start_ && packets_ + std::max<int64_t>(1, announced / 500) < announced;
  const bool time_known = announced_ns > 0;
  const bool time_lacks =
      time_known && end_ns + std::max(announced_ns / 100, frame_ns + frame_ns / 2) < announced_ns;
  if (count_lacks && (time_lacks || !time_known)) {
    early_end_ = fmt::format("{} of {} announced frames are there", packets_, announced);
  } else if (time_lacks && end_ns + 4 * frame_ns < announced_ns) {
    early_end_ = fmt::format("{:.2f} s of {:.2f} s are there", to_s(end_ns), to_s(announced_ns));
  } else if (cut_packet_) {
    early_end_ = "its last packet is cut";
  } else if (input.flags & AVFMT_FLAG_IGNIDX) {  // Input opened it so because it could not be read to its end
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
