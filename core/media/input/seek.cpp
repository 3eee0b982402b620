// Exact seeking in FfmpegSource: moves to a key frame before the target and decodes up to the target.
//
// Demuxers find the key frame by decoding time or by an estimated byte position. The first decoded frame may
// therefore be after the target. In that case the next attempts seek further back, the last one to the start.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/media/input/ffmpeg_source.hpp"

namespace lensd {
namespace {

constexpr std::array<int64_t, 4> kFurtherBack = {0, 1'000'000'000, 5'000'000'000, 20'000'000'000};
constexpr int kFromStart = static_cast<int>(kFurtherBack.size());

/// Targets this close to the announced end are often after the last frame. No pictures are skipped for them,
/// because the last frame must be decoded.
constexpr int64_t kNearEndNs = 1'000'000'000;
/// Pictures this close to the target are not skipped, because the times of packets may differ a little from
/// the times of frames.
constexpr int64_t kNearTargetNs = 100'000'000;

/// A seek shows the picture before the target if that picture lasts until more than this after the target.
constexpr int64_t kLongPictureNs = 250'000'000;

/// Tolerance for rounding: positions are decimal seconds or frame times.
constexpr int64_t kToleranceNs = 1000;

/// Maximum gap between two frames in the index of an MP4 file, in frames at the nominal rate. In a longer gap
/// there may be a fragment that was not read yet.
constexpr double kLongestGapFrames = 3;

}  // namespace

void FfmpegSource::seek(int64_t position_ns, int back) {
  if (!info_.seekable) fail("this source cannot seek");
  for (Picture& picture : ahead_) picture.reset();
  stream_errors_.seek_done();
  target_waits_ = false;
  // The last seek may have entered the current picture after its beginning. A step back starts at the
  // beginning.
  if (back > 0 && position_ns == entered_ns_)
    position_ns = entered_begin_ns_;
  else
    entered_ns_ = -1;
  seek_ = {.active = true, .first = true, .target_ns = std::max<int64_t>(position_ns, 0), .back = back};
  seek_.skips = seek_.target_ns < info_.duration_ns - kNearEndNs;
  move_to(input_->seeks_by_time() ? 0 : kFromStart);
}

std::optional<int64_t> FfmpegSource::indexed_key_frame(int64_t position_ns) const {
  if (!input_->seeks_by_time()) return std::nullopt;
  const std::string_view container = input_->context()->iformat->name;
  const bool mp4 = container.starts_with("mov"), matroska = container.starts_with("matroska");
  AVStream* stream = input_->stream();
  const AVIndexEntry* first = avformat_index_get_entry(stream, 0);
  if ((!mp4 && !matroska) || !first) return std::nullopt;
  int64_t ticks = ff::to_ticks(position_ns + timestamps_.origin_ns().value_or(0), stream->time_base);
  // The index of an MP4 file has decoding times. The first one precedes the first picture by the reordering
  // delay: it is negative, or, in fragmented files of FFmpeg 7, it is 0 and the pictures start later.
  const int64_t start = stream->start_time == AV_NOPTS_VALUE ? 0 : stream->start_time;
  if (mp4) ticks = av_sat_add64(ticks, std::min<int64_t>(av_sat_sub64(first->timestamp, start), 0));
  const int key = av_index_search_timestamp(stream, ticks, AVSEEK_FLAG_BACKWARD);
  // The index of a Matroska file has key frames only, and may lack those after its last entry.
  if (key < 0 || key + 1 >= avformat_index_get_entries_count(stream)) return std::nullopt;
  if (mp4) {  // its index has all frames of the fragments that were read
    const int before = av_index_search_timestamp(stream, ticks, AVSEEK_FLAG_BACKWARD | AVSEEK_FLAG_ANY);
    const AVIndexEntry* after = avformat_index_get_entry(stream, before + 1);
    const double frames = info_.fps > 0 ? kLongestGapFrames / info_.fps : 0;
    const auto time_ns = [&](const AVIndexEntry& entry) {
      return ff::to_ns(entry.timestamp, stream->time_base);
    };
    if (!after || time_ns(*after) - time_ns(*avformat_index_get_entry(stream, before)) >
                      static_cast<int64_t>(frames * 1e9))
      return std::nullopt;
  }
  return avformat_index_get_entry(stream, key)->timestamp;
}

void FfmpegSource::seek_start(const SourceOptions& options) {
  int64_t start_ns = options.start_ns;
  if (options.start_share > 0) {
    if (info_.duration_ns <= 0)
      fail("the length is not known, so playback cannot start at a percentage of it");
    start_ns = static_cast<int64_t>(options.start_share * static_cast<double>(info_.duration_ns));
  }
  if (start_ns > 0) seek(start_ns);
}

void FfmpegSource::move_to(int attempt) {
  // Some demuxers refuse positions after the end.
  const int64_t from_ns =
      info_.duration_ns > 0 ? std::min(seek_.target_ns, info_.duration_ns) : seek_.target_ns;
  for (; attempt < kFromStart; ++attempt) {
    const int64_t raw_ns =
        from_ns - kFurtherBack[static_cast<size_t>(attempt)] + timestamps_.origin_ns().value_or(0);
    const DataWait::Scope waiting(data_wait_);
    if (input_->seek(ff::to_ticks(raw_ns, input_->stream()->time_base)) >= 0) break;
    if (input_->seek_timed_out()) attempt = kFromStart - 1;
  }
  seek_.attempt = attempt;
  seek_.first = true;
  seek_.passed_ns.clear();
  av_frame_unref(before_target_.get());
  const bool cover = is_cover(*input_->stream());  // in memory: no need to open the file again
  if (attempt >= kFromStart && !cover) {
    const DataWait::Scope waiting(data_wait_);
    if (options_.live.hls) options_.live.hls->reopens = true;
    open();
    return timestamps_.restart(0);
  }
  packets_.restart(input_->context());
  reset_decoder();
  draining_ = drained_key_ = cover_read_ = false;
  timestamps_.restart(cover ? 0 : seek_.target_ns);
}

/// Reads the next packet. An audio file with a cover picture has only one packet here; its audio is not read.
/// Only the first image of a photo is read.
int FfmpegSource::read_packet() noexcept {
  AVStream& stream = *input_->stream();
  if (is_cover(stream)) {
    av_packet_unref(packet_.get());
    if (std::exchange(cover_read_, true)) return AVERROR_EOF;
    return av_packet_ref(packet_.get(), &stream.attached_pic);
  }
  if (only_first_ && std::exchange(cover_read_, true)) return AVERROR_EOF;
  const DataWait::Scope waiting(data_wait_);
  const int error = input_->read(*packet_);
  // Do not repeat the seek: each attempt would wait as long for the server.
  if (error == AVERROR(ETIMEDOUT)) seek_.skips = false, seek_.attempt = kFromStart;
  return error;
}

void FfmpegSource::reset_decoder() {
  if (decoder_->on_gpu() || allocator_.logged_errors() == decoder_errors_)
    avcodec_flush_buffers(&decoder_->context());
  else
    start_decoder();
}

void FfmpegSource::skip_before_target(const AVPacket& packet) {
  bool skip = seek_.active && seek_.skips && packet.pts != AV_NOPTS_VALUE;
  if (skip) {
    const int64_t pts_ns =
        ff::to_ns(packet.pts, input_->stream()->time_base) - timestamps_.origin_ns().value_or(0);
    skip = pts_ns + kNearTargetNs < seek_.target_ns;
  }
  decoder_->context().skip_frame = skip ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
}

bool FfmpegSource::retry_seek() {
  if (seek_.active && std::exchange(seek_.skips, false)) {
    move_to(seek_.attempt);
    return true;
  }
  if (!seek_.active || !seek_.first || seek_.attempt >= kFromStart) return false;
  move_to(seek_.attempt + 1);
  return true;
}

bool FfmpegSource::reached(int64_t pts_ns) {
  const bool first = std::exchange(seek_.first, false);
  const bool after = pts_ns > 0 && pts_ns > seek_.target_ns + timestamps_.nominal_ns() / 2;
  const bool timed = frame_info_.stamp_ns != INT64_MIN;  // else pts_ns is the target, not the frame's time
  if (first && seek_.attempt < kFromStart && (after || !timed)) {
    move_to(seek_.attempt + 1);
    return false;
  }
  if (pts_ns + kToleranceNs < seek_.target_ns && !options_.key_frames_only) {
    if (!seek_.skips || pts_ns + kNearTargetNs >= seek_.target_ns) seek_.passed_ns.push_back(pts_ns);
    if (seek_.passed_ns.size() > static_cast<size_t>(seek_.back)) seek_.passed_ns.pop_front();
    std::swap(frame_, before_target_);
    before_target_info_ = frame_info_;
    return false;
  }
  if (seek_.back > 0 ? !go_back() : !enter_picture_before(pts_ns)) return false;
  end_seek();
  return true;
}

bool FfmpegSource::enter_picture_before(int64_t end_ns) {
  if (!before_target_->buf[0] || end_ns - seek_.target_ns <= kLongPictureNs) return true;
  if (std::exchange(seek_.skips, false)) {
    move_to(seek_.attempt);
    return false;
  }
  std::swap(frame_, before_target_), std::swap(frame_info_, before_target_info_);
  target_waits_ = true;
  enter_picture(end_ns);
  return true;
}

/// Makes the picture in frame_ begin at the target. `end_ns`: its end; a cover picture may end before the
/// target.
void FfmpegSource::enter_picture(int64_t end_ns) {
  entered_ns_ = seek_.target_ns, entered_begin_ns_ = frame_info_.pts_ns;
  frame_info_.pts_ns = entered_ns_, frame_info_.duration_ns = std::max<int64_t>(end_ns - entered_ns_, 0);
}

bool FfmpegSource::go_back() {
  const bool enough = seek_.passed_ns.size() >= static_cast<size_t>(seek_.back);
  if (!enough && std::exchange(seek_.skips, false)) {
    move_to(seek_.attempt);
    return false;
  }
  if (!enough && seek_.attempt < kFromStart) {
    move_to(seek_.attempt + 1);
    return false;
  }
  if (seek_.passed_ns.empty()) return true;  // the picture at the target is the first one
  if (seek_.passed_ns.size() == 1) {
    std::swap(frame_, before_target_), std::swap(frame_info_, before_target_info_);
    target_waits_ = true;
    return true;
  }
  seek_.target_ns = seek_.passed_ns.front(), seek_.back = 0;
  move_to(seek_.attempt);
  return false;
}

bool FfmpegSource::take_frame_before_target() {
  if (!seek_.active || !before_target_->buf[0]) return false;
  std::swap(frame_, before_target_);
  frame_info_ = before_target_info_;
  const int64_t end_ns = frame_info_.pts_ns + frame_info_.duration_ns;
  const bool lasts = end_ns - seek_.target_ns > kLongPictureNs || is_cover(*input_->stream());
  if (seek_.back == 0 && lasts) enter_picture(end_ns);
  end_seek();
  return true;
}

bool FfmpegSource::take_waiting_target() {
  if (!std::exchange(target_waits_, false)) return false;
  std::swap(frame_, before_target_);
  frame_info_ = before_target_info_;
  av_frame_unref(before_target_.get());
  return true;
}

void FfmpegSource::end_seek() {
  seek_.active = false;
  if (!target_waits_) av_frame_unref(before_target_.get());
  follows_ = false;
  const std::optional<int64_t> counted = packets_.before(frame_info_.stamp_ns);
  const bool first = begin_ns() == 0;  // pictures after the first one have later times
  rate_watch_.landed(begin_ns(), info_.fps);
  const bool varies = rate_watch_.varies() || mean_fps_ != info_.fps || info_.fps <= 0;
  index_estimated_ = !counted && !first && varies;
  next_index_ = counted ? *counted - first_index_.value_or(0) : std::llround(to_s(begin_ns()) * mean_fps_);
  next_index_ = std::max<int64_t>(next_index_, 0);
}

int64_t FfmpegSource::begin_ns() const {
  return frame_info_.pts_ns == entered_ns_ ? entered_begin_ns_ : frame_info_.pts_ns;
}

}  // namespace lensd
