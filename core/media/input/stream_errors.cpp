#include "core/media/input/stream_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/media/hls/hls_access.hpp"

namespace lensd {
namespace {

bool is_mov(const Input& input) {
  return std::string_view(input.context()->iformat->name).find("mp4") != std::string_view::npos;
}

/// Returns true if the index of an .mp4 lists data after the end of the file.
bool index_exceeds_file(const Input& input) {
  AVStream* const stream = input.stream();
  const int64_t bytes = input.context()->pb ? avio_size(input.context()->pb) : -1;
  if (!is_mov(input) || bytes < 0) return false;
  for (int i = 0; i < avformat_index_get_entries_count(stream); ++i) {
    const AVIndexEntry* entry = avformat_index_get_entry(stream, i);
    if (entry && entry->pos > bytes - entry->size) return true;
  }
  return false;
}

}  // namespace

void StreamErrors::packet_read(const AVPacket& packet) {
  ++packets_;
  after_corrupt_ = packet.flags & AV_PKT_FLAG_CORRUPT ? 0 : after_corrupt_ + 1;
  const int64_t begin = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  if (begin != AV_NOPTS_VALUE) end_ticks_ = std::max(end_ticks_, av_sat_add64(begin, packet.duration));
}

void StreamErrors::step_done(bool failed, int logged_errors) {
  // After a seek, decoders log errors about references before the key frame.
  const bool logged = from_start_ && logged_errors != logged_errors_;
  logged_errors_ = logged_errors;
  if (failed || logged) ++decode_errors_;
}

/// Returns true if the file has fewer frames than announced. Announced counts and durations are often off by
/// a frame. AVI files omit repeated frames, so ignore the count if the duration is complete.
bool StreamErrors::frames_missing(const Input& input, int64_t end_ns, int64_t announced_ns,
                                  int64_t frame_ns) const {
  const int64_t announced = input.stream()->nb_frames;
  const bool ends_early = end_ns + std::max(announced_ns / 100, frame_ns + frame_ns / 2) < announced_ns;
  return announced > 0 && from_start_ && packets_ + std::max<int64_t>(1, announced / 500) < announced &&
         (ends_early || announced_ns <= 0) && !is_mov(input);
}

void StreamErrors::ended(const Input& input, int error, int64_t announced_ns, int64_t frame_ns) {
  const AVFormatContext& context = *input.context();
  const AVStream& stream = *input.stream();
  const int64_t start = stream.start_time == AV_NOPTS_VALUE ? 0 : stream.start_time;
  const int64_t end_ns = end_ticks_ == AV_NOPTS_VALUE
                             ? 0
                             : ff::to_ns(end_ticks_, stream.time_base) - ff::to_ns(start, stream.time_base);
  const int read_error = error != AVERROR_EOF ? error : context.pb ? context.pb->error : 0;
  // FFmpeg's HTTP client ends a file whose size it does not know with this error.
  const bool usual_end = read_error == AVERROR(EIO) && input.on_demand_without_size();
  const bool cut = after_corrupt_ < 2 || input.cut() || index_exceeds_file(input);
  if (frames_missing(input, end_ns, announced_ns, frame_ns)) {
    early_end_ = fmt::format("it has {} of {} announced frames", packets_, stream.nb_frames);
  } else if ((cut || usual_end) && end_ns + frame_ns < announced_ns) {
    early_end_ = fmt::format("it has {:.2f} of {:.2f} s", to_s(end_ns), to_s(announced_ns));
  } else if (cut) {
    early_end_ = "its last packet is truncated";
  } else if (context.flags & AVFMT_FLAG_IGNIDX) {  // see Input::open_file()
    early_end_ = "its last fragment is truncated";
  } else if (read_error < 0 && read_error != AVERROR_EOF && !usual_end) {
    const std::string reason = input.kind() == UrlKind::sequence
                                   ? "its next image is missing or cannot be read"
                               : input.hls() ? input.hls()->reason()
                                             : "";
    early_end_ = reason.empty() ? ff::error_text(read_error) : reason;
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
