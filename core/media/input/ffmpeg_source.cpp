#include "core/media/input/ffmpeg_source.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/media/ffmpeg/frame_memory.hpp"
#include "core/media/ffmpeg/hdr_side_data.hpp"
#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"
#include "core/media/input/input_checks.hpp"
#include "core/media/input/read_chapters.hpp"
#include "core/media/input/read_tracks.hpp"

namespace lensd {
namespace {

/// FFmpeg returns the resolution of the timestamps if it has read too few of them. Ignore such high rates.
constexpr double kHighestFps = 10'000;

/// Returns the name of the codec, or of the pixel format if the stream is not compressed.
const char* coding_of(const AVCodecParameters& parameters) {
  const bool raw = parameters.codec_id == AV_CODEC_ID_RAWVIDEO;
  const char* pixels = raw ? av_get_pix_fmt_name(static_cast<AVPixelFormat>(parameters.format)) : nullptr;
  return pixels ? pixels : avcodec_get_name(parameters.codec_id);
}

/// Returns the container's duration in AV_TIME_BASE units. In Matroska files, FFmpeg's muxer writes the end
/// of the last picture instead, which differs if the first one is not at 0.
int64_t duration_of(const AVFormatContext& context) {
  const AVDictionaryEntry* muxer = av_dict_get(context.metadata, "encoder", nullptr, 0);
  const bool has_end = std::string_view(context.iformat->name).starts_with("matroska") && muxer &&
                       std::string_view(muxer->value).starts_with("Lavf") && context.start_time > 0 &&
                       context.duration > context.start_time;
  return has_end ? context.duration - context.start_time : context.duration;
}

}  // namespace

FfmpegSource::FfmpegSource(const std::string& url, const SourceOptions& options)
    : url_(url),
      where_(display_url(url)),
      options_(options),
      allocator_(options.pinned ? MemoryKind::pinned : MemoryKind::host),
      fallback_(allocator_) {
  stop_.cancelled = options.cancel;
  if (options.pipe_open_ns > 0 && may_wait_for_writer(url))
    stop_.deadline_ns = now_ns() + options.pipe_open_ns;
  try {
    open_first();
  } catch (const Error&) {
    if (!stop_.late()) throw;
    fail(fmt::format("no picture within {} s", options.pipe_open_ns / 1'000'000'000),
         "start the program that writes to it");
  }
  stop_.deadline_ns = 0;
  seek_start(options_);
}

void FfmpegSource::open_first() {
  open();
  const AVRational rate = av_guess_frame_rate(input_->context(), input_->stream(), nullptr);
  const double fps = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
  if (fps <= kHighestFps && !input_->invents_times()) info_.fps = fps;
  if (info_.fps > 0) mean_fps_ = mean_rate(info_.fps, *input_->stream());
  if (info_.fps > 0) timestamps_ = TimestampNormalizer(std::max<int64_t>(1, std::llround(1e9 / info_.fps)));
  rate_watch_ = RateWatch(timestamps_.nominal_ns());
  describe_source();
  read_ahead();
}

void FfmpegSource::open() {
  decoder_.reset();
  picture_ns_ = data_since_ns_ = now_ns();
  packet_time_ = AV_NOPTS_VALUE, suspect_packets_ = 0;
  input_ = std::make_unique<Input>(url_, StreamKind::video, stop_, options_.live, options_.video_track,
                                   options_.or_best_track);
  if (!options_.keep_colours && needs_dolby_vision(*input_->stream()))
    throw Error(ExitCode::bad_source, where_,
                "its colours are coded as Dolby Vision without a base layer in HDR10, HLG or SDR",
                "use a version in HDR10, HLG or Dolby Vision profile 8");
  if (const CameraMonitor* camera = input_->camera_monitor()) broken_before_ = camera->broken;
  software_ = false;
  start_decoder();
  packets_.restart(input_->context());
  draining_ = drained_key_ = intact_seen_ = cover_read_ = false;
  announced_peak_.reset();
  announced_hdr_.reset();
}

void FfmpegSource::start_decoder() {
  decoder_.reset();
  SourceOptions options = options_;
  if (software_) options.hwdec = HwDecode::off;
  decoder_ =
      std::make_unique<Decoder>(*input_->stream(), options, allocator_, where_, is_live(input_->kind()));
  decoder_errors_ = allocator_.logged_errors();
  received_ = false;
}

void FfmpegSource::read_ahead() {
  Picture first, second, third;
  if (!decode_ahead(first)) {
    if (!forged_.empty()) fail(forged_);
    const std::string hint = ff::log_hint();
    // FFmpeg's decoder skips the pictures of an animation.
    if (info_.codec == "webp" && hint.ends_with("image data not found"))
      fail("no picture can be decoded", "this FFmpeg reads no animated WebP; convert it to a video or GIF");
    if (input_->needs_leading_index())
      fail(
          "the index of this MP4 is at its end, and the server does not support byte ranges (write the file "
          "with '-movflags faststart', or use another server)");
    fail("no picture can be decoded", hint.empty() ? stream_errors() : hint);
  }
  info_.picture = first.planes.info;
  info_.hdr = announced_hdr_.value_or(HdrMetadata{});
  const bool cover = is_cover(*input_->stream());
  info_.start_ns = cover ? first_sound_ns(*input_->context()) : timestamps_.origin_ns().value_or(0);
  if (!info_.live) info_.chapters = read_chapters(*input_->context(), info_.start_ns);
  info_.on_gpu = decoder_->on_gpu();
  info_.decoder = info_.on_gpu ? "NVDEC" : "software";
  if (options_.hwdec != HwDecode::off && !decoder_->on_gpu() && decoder_->software_reason().empty())
    log::info("decoding in software: NVDEC refused this stream");
  if (input_->image_container()) read_further_images(first, second, third);
  ahead_ = {std::move(first), std::move(second), std::move(third)};
  if (std::string text = other_track_shown(info_, options_.video_track); !text.empty())
    notices_.add(true, std::move(text));
}

void FfmpegSource::describe_source() {
  const AVStream& stream = *input_->stream();
  info_.url = where_, info_.name = short_name(url_);
  info_.address = url_, info_.tls = options_.live.tls, info_.address_options = options_.live.extra;
  info_.codec = coding_of(*stream.codecpar);
  info_.frame_count = stream.nb_frames > 0                  ? stream.nb_frames
                      : input_->kind() == UrlKind::sequence ? std::max<int64_t>(stream.duration, 0)
                                                            : 0;
  info_.has_audio = input_->has_audio();
  info_.video_tracks = describe_video_tracks(*input_->context());
  info_.video_track = video_track_number(*input_->context(), stream.index);
  if (const HlsAccess* hls = input_->hls(); hls && hls->variant() > 0)
    info_.video_tracks = hls->variants(), info_.video_track = hls->variant();
  info_.seekable = input_->repeatable(), info_.reopenable = input_->reopenable();
  info_.live = input_->live();
  const AVInputFormat* demuxer = input_->context()->iformat;  // null for cameras and PipeWire
  info_.times_may_jump = demuxer && (demuxer->flags & AVFMT_TS_DISCONT) != 0;
  if (input_->joined_ns() > 0) {
    announced_duration_ns_ = info_.duration_ns = input_->joined_ns();
  } else if (stream.duration > 0) {
    announced_duration_ns_ = ff::to_ns(stream.duration, stream.time_base);
    info_.duration_ns = announced_duration_ns_;
  } else if (input_->context()->duration > 0) {
    info_.duration_ns = ff::to_ns(duration_of(*input_->context()), AVRational{1, AV_TIME_BASE});
    if (input_->context()->nb_streams == 1) announced_duration_ns_ = info_.duration_ns;
  }
}

FrameOutcome FfmpegSource::next(Picture& out) {
  out.reset();
  for (Picture& picture : ahead_) {
    if (!picture) continue;
    out = std::move(picture);
    return FrameOutcome::ok;
  }
  if (take_waiting_target()) {
    out = deliver();
    return FrameOutcome::ok;
  }
  for (;;) {
    const FrameOutcome outcome = decode();
    if (outcome == FrameOutcome::end_of_stream && retry_seek()) continue;
    if (outcome == FrameOutcome::end_of_stream && take_frame_before_target()) {
      out = deliver();
      return FrameOutcome::ok;
    }
    if (outcome != FrameOutcome::ok) return outcome;
    drop_unknown_tags(*frame_);
    apply_gpu_cropping(*frame_);
    if (frame_->width > kMaxSide || frame_->height > kMaxSide)
      fail_too_large({frame_->width, frame_->height});
    const AVRational time_base = input_->stream()->time_base;
    picture_ns_ = now_ns(), data_since_ns_ = 0;
    const bool invented = input_->invents_times();
    std::optional<int64_t> raw_ns;
    if (invented)
      raw_ns = picture_ns_;
    else if (frame_->best_effort_timestamp != AV_NOPTS_VALUE)
      raw_ns = ff::to_ns(frame_->best_effort_timestamp, time_base);
    if (const CameraMonitor* camera = input_->camera_monitor()) broken_before_ = camera->broken;
    frame_info_.capture_ns = capture_time(raw_ns, picture_ns_);
    frame_info_.stamp_ns = raw_ns.value_or(INT64_MIN);
    frame_info_.pts_ns = timestamps_.normalize(raw_ns);
    frame_info_.offset_ns = timestamps_.offset_ns();
    const int64_t duration = is_cover(*input_->stream()) ? info_.duration_ns
                             : invented                  ? 0
                                                         : ff::to_ns(ff::duration_of(*frame_), time_base);
    frame_info_.duration_ns = duration > 0 ? duration : info_.fps > 0 ? timestamps_.nominal_ns() : 0;
    if (seek_.active && !reached(frame_info_.pts_ns)) continue;
    out = deliver();
    return FrameOutcome::ok;
  }
}

FrameOutcome FfmpegSource::decode() {
  for (;;) {
    if (stop_.raised()) return interrupted();  // also if interrupt() was called before next()
    av_frame_unref(frame_.get());
    if (input_->raw_camera()) return capture();
    const int result = avcodec_receive_frame(&decoder_->context(), frame_.get());
    if (result == 0) {
      received_ = true;
      const bool whole = has_all_rows(*frame_);
      stream_errors_.step_done(
          !whole || frame_->decode_error_flags || (frame_->flags & AV_FRAME_FLAG_CORRUPT),
          allocator_.logged_errors());
      if (whole)
        allocator_.take_too_large();  // a damaged packet had announced a wrong size
      else
        count_undecodable();
      if (!whole || (input_->camera_monitor() && camera_picture_damaged())) continue;
      return FrameOutcome::ok;
    }
    if (result == AVERROR_EOF && std::exchange(drained_key_, false)) {
      avcodec_flush_buffers(&decoder_->context());
      continue;
    }
    if (result == AVERROR_EOF) return FrameOutcome::end_of_stream;
    if (decoder_->required_gpu_refused()) fail_gpu_refused();
    check_memory(result);
    stream_errors_.step_done(result != AVERROR(EAGAIN), allocator_.logged_errors());
    if (result != AVERROR(EAGAIN)) count_undecodable();
    if (draining_) {
      if (result == AVERROR(EAGAIN)) return FrameOutcome::end_of_stream;
      continue;
    }
    if (feed() == FrameOutcome::again) return interrupted();
  }
}

FrameOutcome FfmpegSource::interrupted() noexcept {
  stop_.interrupted.store(false, std::memory_order_relaxed);
  return FrameOutcome::again;
}

FrameOutcome FfmpegSource::feed() {
  const int error = read_packet();
  if (error == AVERROR_EXIT) return FrameOutcome::again;
  if (error == AVERROR(EAGAIN) && input_->live()) {
    check_picture_age();
    return FrameOutcome::ok;
  }
  if (error < 0 && input_->live()) fail_lost(error);
  if (error < 0) {
    stream_errors_.ended(*input_, error, announced_duration_ns_, timestamps_.nominal_ns());
    draining_ = true;
    const int sent = send(nullptr);  // drains the decoder
    stream_errors_.step_done(sent < 0 && sent != AVERROR_EOF, allocator_.logged_errors());
    return FrameOutcome::end_of_stream;
  }
  if (input_->live()) check_live_packet();
  stream_errors_.packet_read(*packet_);
  packets_.read(*input_->stream(), *packet_);
  if (std::string problem = png_problem(*input_->stream()->codecpar, *packet_); !problem.empty()) {
    forged_ = std::move(problem);
    av_packet_unref(packet_.get());
    stream_errors_.step_done(true, allocator_.logged_errors());
    return FrameOutcome::ok;
  }
  if (options_.key_frames_only) return feed_key_frame();
  skip_before_target(*packet_);
  const int sent = send(packet_.get());
  av_packet_unref(packet_.get());
  check_memory(sent);
  if (sent < 0 && decoder_->required_gpu_refused()) fail_gpu_refused();
  if (sent < 0 && sent != AVERROR(EAGAIN) && sent != AVERROR_EOF) count_undecodable();
  stream_errors_.step_done(sent < 0 && sent != AVERROR(EAGAIN) && sent != AVERROR_EOF,
                           allocator_.logged_errors());
  return FrameOutcome::ok;
}

/// Passes a packet to the decoder, or drains it if `packet` is null. Returns FFmpeg's result. If the driver
/// refuses the stream, replaces the decoder: the one for the GPU has only one thread, and FFmpeg's AV1
/// decoder does not work without a GPU.
int FfmpegSource::send(const AVPacket* packet) {
  const bool refused_before = decoder_->gpu_refused();
  const int sent = avcodec_send_packet(&decoder_->context(), packet);
  if (refused_before || !decoder_->gpu_refused()) return sent;
  const bool can_continue = received_ && sent != AVERROR(ENOSYS);
  software_ = true;
  if (!can_continue) start_decoder();
  // Do not count the errors that FFmpeg has logged about the refusal.
  decoder_errors_ = allocator_.logged_errors();
  stream_errors_.ignore_logged(decoder_errors_);
  return can_continue ? sent : avcodec_send_packet(&decoder_->context(), packet);
}

/// Passes a key frame to the decoder and drains the decoder, because decoders that reorder pictures would
/// otherwise wait for further ones. Drops other packets.
FrameOutcome FfmpegSource::feed_key_frame() {
  if (packet_->flags & AV_PKT_FLAG_KEY) {
    if (drained_key_) avcodec_flush_buffers(&decoder_->context());
    send(packet_.get());
    send(nullptr);
    drained_key_ = true;
  }
  av_packet_unref(packet_.get());
  return FrameOutcome::ok;
}

void FfmpegSource::fail(const std::string& what, const std::string& hint) const {
  throw Error(ExitCode::bad_source, where_, what, hint);
}

/// Throws Error for a decoder's result that means a lack of memory or a picture that is too large.
void FfmpegSource::check_memory(int result) {
  if (result != AVERROR(ENOMEM)) return;
  fail_if_too_large();
  throw MemoryError(where_, "out of memory", {});
}

/// Throws Error if a picture was too large to decode. Do not call while other pictures can be decoded: a
/// damaged stream may announce a wrong size once.
void FfmpegSource::fail_if_too_large() {
  if (const Extent size = allocator_.take_too_large(); size.width > 0) fail_too_large(size);
}

void FfmpegSource::fail_too_large(Extent size) const {
  fail(fmt::format("a picture of {}×{} is too large, the limit is {}×{}", size.width, size.height, kMaxSide,
                   kMaxSide));
}

void FfmpegSource::fail_gpu_refused() const {
  throw Error(ExitCode::unavailable, where_,
              fmt::format("NVDEC does not decode this {} stream (profile, size or bit depth)", info_.codec),
              "use --hwdec=auto or --hwdec=no");
}

ColourSpec FfmpegSource::picture_colour(const PictureFormat& format) {
  ColourSpec colour = colour_of(*frame_, sample_format(*frame_), format, decoder_->context().codec_id);
  colour.keep = options_.keep_colours;
  if (is_hdr(colour.transfer) && !announced_hdr_) announced_hdr_ = hdr_metadata_of(*frame_, input_->stream());
  if (colour.transfer == Transfer::pq) {
    // Keep the first peak of the connection. Later ones would change the brightness and need new plans.
    if (!announced_peak_) announced_peak_ = peak_of(*frame_, input_->stream());
    colour.peak = announced_peak_.value_or(kDefaultPeak);
    colour.guessed.peak = !announced_peak_;
  }
  return colour;
}

Picture FfmpegSource::deliver() {
  auto format = picture_format(sample_format(*frame_));
  const bool on_gpu = frame_->hw_frames_ctx != nullptr;
  if (!format && on_gpu)
    throw Error(ExitCode::unavailable, where_, "NVDEC delivers a pixel format that lensd does not support");
  if (!format) {
    fallback_.convert(frame_);
    format = picture_format(static_cast<AVPixelFormat>(frame_->format));
  }
  PictureRef ref;
  ref.info.format = *format;
  ref.info.extent = {frame_->width, frame_->height};
  ref.info.colour = picture_colour(*format);
  ref.info.orientation = orientation_of(*frame_, input_->stream());
  const PixelAspect stored =
      pixel_aspect_of(av_guess_sample_aspect_ratio(input_->context(), input_->stream(), frame_.get()));
  pixel_aspect_.store(ref.info.orientation.transpose ? stored.turned() : stored, std::memory_order_relaxed);
  ref.memory = on_gpu ? MemoryKind::device : allocator_.memory_of(*frame_);
  for (size_t p = 0; p < format->plane_count; ++p) {
    ref.planes[p] = frame_->data[p];
    ref.pitch_bytes[p] = frame_->linesize[p];
  }
  if (!first_index_) first_index_ = packets_.before(frame_info_.stamp_ns).value_or(0);
  packets_.stop();
  data_wait_.restart();
  rate_watch_.add(begin_ns(), std::exchange(follows_, true));
  frame_info_.index = next_index_++, frame_info_.index_estimated = index_estimated_;
  frame_info_.key = ff::is_key(*frame_);
  frame_info_.fields = fields_of(*frame_, ref.info.orientation, input_->stream()->codecpar->codec_id);
  ref.info.interlaced.value = frame_info_.fields != FieldOrder::progressive;
  return Picture(ref, frame_info_, owners_->take(*frame_));
}

}  // namespace lensd
