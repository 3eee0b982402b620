// FfmpegSource for live sources: uncompressed and damaged pictures of cameras, lost connections, and senders
// that restart with another stream. Also distinguishes single images from streams of images.
#include <fmt/format.h>

#include <string_view>

#include "core/base/clock.hpp"
#include "core/media/input/ffmpeg_source.hpp"
#include "core/media/live/live_audio.hpp"

namespace lensd {
namespace {

/// If packet times jump back by more than this, the sender may have restarted. Reordering causes far smaller
/// jumps.
constexpr int64_t kJumpBackNs = 500'000'000;
/// Number of packets to watch after a jump back, and number of errors to tolerate in them, because the last
/// picture before the jump may be incomplete.
constexpr int kSuspectPackets = 50, kToleratedErrors = 3;

constexpr const char* kFormatChanged = "the sender changed the format of the stream";

}  // namespace

/// Decodes a picture while the source opens. Returns false if there is none.
bool FfmpegSource::decode_ahead(Picture& out) {
  const FrameOutcome outcome = next(out);
  if (outcome == FrameOutcome::again) fail("opening was interrupted");
  return outcome == FrameOutcome::ok;
}

/// Decodes a second image, and decides whether the source is a still image. The further images of a photo,
/// such as gain maps and previews, have other sizes than the first one, and are not shown. A pipe may deliver
/// several photos.
void FfmpegSource::read_further_images(const Picture& first, Picture& second, Picture& third) {
  const PixelAspect aspect = pixel_aspect();
  info_.image = !decode_ahead(second);
  const bool same_size = !info_.image && first.planes.info.extent == second.planes.info.extent;
  const bool jpeg = std::string_view(input_->context()->iformat->name) == "jpeg_pipe";
  if (!info_.image && !same_size && jpeg && info_.reopenable) {
    second.reset();
    info_.image = only_first_ = cover_read_ = true;
    draining_ = false;
    start_decoder();  // it may have read further images
    pixel_aspect_.store(aspect, std::memory_order_relaxed);
  }
  if (info_.image) info_.frame_count = 1, info_.duration_ns = 0;
  if (same_size) detect_image_stream(first.planes.info.extent, third);
}

/// Call if a second image of `size` follows the first one. Two such images alone, or with a preview, are a
/// file if the response ends with them, as stereo photos do.
void FfmpegSource::detect_image_stream(Extent size, Picture& third) {
  if (!input_->may_be_image_stream()) return;
  if (input_->response_ended() && (!decode_ahead(third) || third.planes.info.extent != size)) return;
  input_->set_image_stream();
  info_.live = true;
  info_.seekable = input_->repeatable(), info_.reopenable = input_->reopenable();
}

/// Returns true if the decoded picture in frame_ is damaged, and counts it. FFmpeg marks damaged H.264
/// pictures, but for JPEGs it only logs errors. Ignores the log until one picture had no errors, because
/// FFmpeg logs an error for every picture of some cameras. Always ignores it with frame threads, because they
/// log errors of later pictures.
bool FfmpegSource::camera_picture_damaged() noexcept {
  const AVCodecContext& codec = decoder_->context();
  const int before = std::exchange(decoder_errors_, allocator_.logged_errors());
  const bool logged = before != decoder_errors_;
  const bool exact = codec.codec_id == AV_CODEC_ID_MJPEG && !(codec.active_thread_type & FF_THREAD_FRAME);
  const bool marked = frame_->decode_error_flags || (frame_->flags & AV_FRAME_FLAG_CORRUPT);
  intact_seen_ = intact_seen_ || !logged;
  if (!marked && !(exact && logged && intact_seen_)) return false;
  ++input_->camera_monitor()->broken;
  return true;
}

/// Counts a camera picture for which the decoder has returned an error.
void FfmpegSource::count_undecodable() noexcept {
  CameraMonitor* camera = input_->camera_monitor();
  if (!camera) return;
  ++camera->broken;
  decoder_errors_ = allocator_.logged_errors();
}

/// Returns a message if a camera or PipeWire node has delivered damaged pictures since the newest intact one,
/// otherwise an empty string.
std::string FfmpegSource::only_damaged_pictures() const {
  const CameraMonitor* camera = input_->camera_monitor();
  const uint64_t damaged = camera ? camera->broken - broken_before_ : 0;
  if (damaged == 0) return {};
  return fmt::format("the {} delivers only damaged pictures ({} in {:.1f} s)",
                     input_->kind() == UrlKind::camera ? "camera" : "PipeWire node", damaged,
                     to_s(now_ns() - picture_ns_));
}

/// Reads a picture from an uncompressed camera into frame_.
FrameOutcome FfmpegSource::capture() {
  int error = 0;
  {
    const DataWait::Scope waiting(data_wait_);
    error = input_->read(*frame_, allocator_);
  }
  if (error == AVERROR_EXIT) return interrupted();
  check_memory(error);
  if (error < 0) fail_lost(error);
  return FrameOutcome::ok;
}

void FfmpegSource::fail_lost(int error) const {
  if (input_->kind() == UrlKind::camera) {
    if (error == AVERROR(ENODEV)) fail("the camera was unplugged");
    if (error == AVERROR(EIO)) fail("the camera's signal changed its format");
  }
  if (input_->kind() == UrlKind::pipewire && error == AVERROR(ENODEV))
    fail("the PipeWire node or daemon is gone");
  if (error == AVERROR_INPUT_CHANGED) fail(kFormatChanged);
  if (const HlsAccess* hls = input_->hls())
    if (const std::string reason = hls->reason(); !reason.empty()) fail(reason);
  // An HTTP response without a length ends with an I/O error.
  if (error == AVERROR_EOF || error == AVERROR(EIO)) fail("the stream ended");
  if (error == AVERROR(EMSGSIZE)) fail("the server sends too much data for one picture");
  const CameraMonitor* camera = input_->camera_monitor();
  if (const char* signal = camera ? problem(camera->signal) : ""; error == AVERROR(ETIMEDOUT) && *signal)
    fail(signal);
  if (error == AVERROR(ETIMEDOUT))
    if (const std::string damaged = only_damaged_pictures(); !damaged.empty()) fail(damaged);
  if (error == AVERROR(ETIMEDOUT)) fail(fmt::format("no data for {:g} s", to_s(input_->silence_ns())));
  fail("stream error: " + ff::error_text(error));
}

/// Call when data of a live source arrives. Throws Error if data has arrived for open_ns without a picture.
void FfmpegSource::check_picture_age() {
  const int64_t now = now_ns();
  if (data_since_ns_ == 0) data_since_ns_ = now;
  if (now - data_since_ns_ <= options_.live.open_ns) return;
  fail_if_too_large();
  fail("data arrives, but no picture can be decoded");
}

/// Throws Error if the stream no longer fits the decoder or no picture is decoded. Demuxers do not detect
/// that a sender restarts with another stream at the same address. In that case packet times jump back and
/// the decoder logs errors.
void FfmpegSource::check_live_packet() {
  const LiveAudio* audio = options_.live.audio.get();
  // An HLS stream is read ahead: its packets still have the old codec, see fail_lost().
  const bool codec_changed =
      !input_->hls() && input_->stream()->codecpar->codec_id != decoder_->context().codec_id;
  if (codec_changed || input_->changed() || (audio && audio->unreadable())) fail(kFormatChanged);
  if (input_->camera_monitor() && now_ns() - picture_ns_ > input_->silence_ns())
    if (const std::string damaged = only_damaged_pictures(); !damaged.empty()) fail(damaged);
  check_picture_age();
  decoder_->keep_order(*packet_);
  const int64_t time = packet_->dts != AV_NOPTS_VALUE ? packet_->dts : packet_->pts;
  if (time == AV_NOPTS_VALUE) return;
  const int64_t before = std::exchange(packet_time_, time);
  const AVRational time_base = input_->stream()->time_base;
  const int64_t jump_ns = ff::to_ns(before, time_base) - ff::to_ns(time, time_base);
  if (before != AV_NOPTS_VALUE && jump_ns > kJumpBackNs) {
    suspect_packets_ = kSuspectPackets;
    suspect_errors_ = allocator_.logged_errors();
  } else if (suspect_packets_ > 0) {
    --suspect_packets_;
    if (allocator_.logged_errors() - suspect_errors_ > kToleratedErrors)
      fail("the sender restarted with another stream");
  }
}

/// Returns the capture time of a picture, or `now` if it has none. The kernel stamps camera pictures with the
/// monotonic time of their exposure or arrival.
int64_t FfmpegSource::capture_time(std::optional<int64_t> raw_ns, int64_t now) const {
  constexpr int64_t kOldest = 1'000'000'000;  // an older stamp is from another clock
  const bool device = input_->kind() == UrlKind::camera || input_->kind() == UrlKind::pipewire;
  const bool stamped = device && raw_ns && *raw_ns <= now;
  return stamped && now - *raw_ns < kOldest ? *raw_ns : now;
}

}  // namespace lensd
