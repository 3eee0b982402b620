#include "core/media/output/encoders/video_encoder.hpp"
#include "core/base/clock.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/media/ffmpeg/hdr_side_data.hpp"
#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/output/encoders/encoder_choice.hpp"
#include "core/media/output/encoders/encoder_format.hpp"

namespace lensd {
namespace {

/// A timestamp that is this much earlier than expected has jumped.
constexpr int64_t kTimeJumpNs = 1'000'000'000;

/// MPEG's 90 kHz clock: exact for 24, 25, 29.97, 30, 50 and 60 frames per second, precise enough for other
/// and variable rates.
constexpr AVRational kClock = {1, 90000};

bool is_hardware(const AVCodec& codec) {
  return std::string_view(codec.name).ends_with("_nvenc");
}

/// Returns the hint for an encoder that did not start.
std::string start_hint(const EncoderOptions& options) {
  if (options.codec.ends_with("_nvenc"))
    return "it needs an NVIDIA GPU and its driver; codec = \"libx264\" works everywhere";
  return options.preset.empty() ? "" : fmt::format("is '{}' one of its presets?", options.preset);
}

}  // namespace

VideoEncoder::VideoEncoder(const AVOutputFormat& container, const PixelsFormat& input, double fps,
                           const EncoderOptions& options, const std::string& where, FieldOrder fields)
    : where_(where), options_(options), fields_(fields), input_(input) {
  const std::vector<const AVCodec*> encoders = encoders_for(container, options, where);
  std::string problem;
  for (const AVCodec* codec : encoders) {
    try {
      start(*codec, container, fps, options);
      notice_ = {false, conversion_notice(*codec, input_, output_)};
      if (options.codec == "hardware" && !is_hardware(*codec)) {
        if (problem.empty()) problem = "there is no hardware encoder for this file type";
        notice_ = {true, fmt::format("{}; using {} instead{}{}", problem, codec->name,
                                     notice_.text.empty() ? "" : "; ", notice_.text)};
      }
      break;
    } catch (const Error& error) {
      // Skip hardware encoders that do not start: NVENC may be missing.
      if (codec == encoders.back() || options.codec != "hardware") throw;
      problem = error.problem();
    }
  }
}

void VideoEncoder::start(const AVCodec& codec, const AVOutputFormat& container, double fps,
                         const EncoderOptions& options) {
  context_.reset(ff::allocated(avcodec_alloc_context3(&codec)));
  AVCodecContext& c = *context_;
  const int most = needs_fixed_rate(codec.id) ? 65535 : 1001 * 1000;  // of numerator and denominator
  const AVRational rate = av_d2q(fps > 0 && std::isfinite(fps) ? fps : 25.0, most);
  const bool fixed_rate = std::string_view(container.name) == "avi" || needs_fixed_rate(codec.id);
  c.time_base = fixed_rate ? av_inv_q(rate) : kClock;
  frame_ticks_ = std::max<int64_t>(1, av_rescale_q(1, av_inv_q(rate), c.time_base));
  c.framerate = rate;
  c.width = input_.extent.width, c.height = input_.extent.height;
  if (!input_.aspect.square()) c.sample_aspect_ratio = {input_.aspect.width, input_.aspect.height};
  if (container.flags & AVFMT_GLOBALHEADER) c.flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  output_ = encoder_format(codec, input_, options, where_);
  c.pix_fmt = output_.format;
  set_colour(c);
  set_fields(c);
  scaler_.open(input_, output_, options_.dither);
  field_scaler_.reset();
  ff::Options settings;
  set_rate(c, options, settings);
  if (fixed_rate) c.max_b_frames = 0;
  if (is_hdr(output_.transfer)) hdr_ = options.hdr;
  add_to_bitstream(c, hdr_, settings);
  ff::forget_log();
  if (const int error = avcodec_open2(&c, &codec, settings.get()); error < 0) {
    throw Error(ExitCode::runtime_failure, where_,
                fmt::format("cannot start the {} encoder for {}×{} pictures: {}", codec.name, c.width,
                            c.height, ff::detailed_error(error)),
                start_hint(options));
  }
}

void VideoEncoder::set_fields(AVCodecContext& c) const {
  if (fields_ == FieldOrder::progressive) return;
  c.field_order = fields_ == FieldOrder::top_first ? AV_FIELD_TT : AV_FIELD_BB;
  // Other encoders refuse the flags, or do not need them. x264 codes fields of complete macroblock pairs.
  const std::string_view codec = c.codec->name;
  if ((codec == "libx264" && c.height % 4 == 0) || codec == "mpeg2video" || codec == "prores_ks")
    c.flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME;
}

void VideoEncoder::set_colour(AVCodecContext& c) const {
  if (is_rgb(output_.format))
    c.colorspace = AVCOL_SPC_RGB;
  else if (!is_gray(output_.format))
    c.colorspace = output_.tags ? output_.tags->matrix : colour_space_of(output_.matrix);
  c.color_range = output_.full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  if (output_.tags) {
    c.color_trc = output_.tags->transfer, c.color_primaries = output_.tags->primaries;
  } else if (output_.primaries || output_.transfer != Transfer::sdr || c.colorspace == AVCOL_SPC_BT709 ||
             c.colorspace == AVCOL_SPC_RGB) {
    c.color_trc = transfer_tag(output_.transfer);
    c.color_primaries = primaries_tag(output_.primaries.value_or(Primaries::bt709));
  }
  // Otherwise the picture is SDR with unknown primaries and another matrix, such as BT.601. Players then
  // guess the rest from the picture's size.
  if (av_pix_fmt_desc_get(c.pix_fmt)->log2_chroma_w)
    c.chroma_sample_location = chroma_location_of(output_.siting);
}

bool VideoEncoder::adapt(const PixelsFormat& input) {
  if (input == input_) return true;
  PixelsFormat output = encoder_format(*context_->codec, input, options_, where_);
  // A stream that does not state its primaries continues with pictures that do, and the other way round.
  const bool unknown = !output.primaries || !output_.primaries;
  if (unknown && !is_wide(output.primaries.value_or(Primaries::bt709)) &&
      !is_wide(output_.primaries.value_or(Primaries::bt709)))
    output.primaries = output_.primaries;
  if (output != output_) return false;
  scaler_.open(input, output_, options_.dither);
  field_scaler_.reset();
  input_ = input;
  return true;
}

VideoEncoder::FrameTime VideoEncoder::next_time(const FrameInfo& info) {
  const AVRational time_base = context_->time_base;
  const bool seek = last_ticks_ < 0 || info.serial != serial_ || info.pts_ns + kTimeJumpNs < last_pts_ns_;
  if (seek) offset_ns_ = ff::to_ns(next_ticks(), time_base) - info.pts_ns;
  const bool moved = follow_stamp(info);
  const bool jump = follow_source_time(info) || seek;
  serial_ = info.serial;
  last_pts_ns_ = info.pts_ns;
  last_ticks_ = std::max(last_ticks_ + 1, ff::to_ticks(info.pts_ns + offset_ns_, time_base));
  const int64_t duration = ff::to_ticks(info.duration_ns, time_base);
  extra_ticks_ = 2 * duration > 3 * frame_ticks_ ? duration - frame_ticks_ : 0;  // ignore rounded times
  if (!jump) return {last_ticks_, std::nullopt};
  return {last_ticks_, SourceJump{.recording_ns = ff::to_ns(last_ticks_, time_base),
                                  .position_ns = info.pts_ns - source_offset_ns_,
                                  .seek = seek,
                                  .moved = moved && !seek,
                                  .connection = plausible(info.stamp_ns) ? info.connection : 0}};
}

/// Stores the timestamp of a live source's frame. Returns true if it follows the previous frame's timestamp.
/// Call before follow_source_time(), which stores the connection.
bool VideoEncoder::follow_stamp(const FrameInfo& info) {
  if (info.connection == 0 || !plausible(info.stamp_ns)) return false;
  const int64_t step = info.stamp_ns - std::exchange(last_stamp_ns_, info.stamp_ns);
  return info.connection == connection_ && step > 0 && step <= info.pts_ns - last_pts_ns_ + kTimeJumpNs;
}

/// Stores the connection and the difference between frame time and source time. Returns true if one of them
/// has changed. Ignores rounded timestamps of live sources.
bool VideoEncoder::follow_source_time(const FrameInfo& info) {
  constexpr int64_t kRoundingNs = 1000;
  const bool reconnected = std::exchange(connection_, info.connection) != info.connection;
  if (info.connection == 0)
    return std::exchange(source_offset_ns_, info.offset_ns) != info.offset_ns || reconnected;
  if (!plausible(info.stamp_ns)) return reconnected;
  const int64_t offset_ns = info.pts_ns - info.stamp_ns;
  if (std::abs(offset_ns - source_offset_ns_) <= kRoundingNs) return reconnected;
  source_offset_ns_ = offset_ns;
  return true;
}

/// Converts the picture to frame_. If the picture or the frame has half as many chroma rows as luma rows and
/// the height is a multiple of 4, converts the fields of an interlaced picture separately, because each row
/// of chroma belongs to one field.
void VideoEncoder::convert(const Pixels& picture, FieldOrder fields) {
  const auto halved = [](const PixelsFormat& f) { return av_pix_fmt_desc_get(f.format)->log2_chroma_h != 0; };
  const int height = input_.extent.height;
  if (fields == FieldOrder::progressive || (!halved(input_) && !halved(output_)) || height % 4 != 0)
    return scaler_.convert(picture, *frame_);
  if (!field_scaler_) {
    PixelsFormat from = input_, to = output_;
    from.extent.height = to.extent.height = height / 2;
    field_scaler_.emplace().open(from, to, options_.dither);
  }
  AVFrame& frame = *frame_;
  for (int parity = 0; parity < 2; ++parity) {
    Pixels field = picture;
    for (int p = 0; p < 4; ++p) {
      if (field.planes[p]) field.planes[p] += std::ptrdiff_t{parity} * field.pitches[p];
      field.pitches[p] *= 2;
      if (frame.data[p]) frame.data[p] += std::ptrdiff_t{parity} * frame.linesize[p];
      frame.linesize[p] *= 2;
    }
    field_scaler_->convert(field, frame);
    for (int p = 0; p < 4; ++p) {
      frame.linesize[p] /= 2;
      if (frame.data[p]) frame.data[p] -= std::ptrdiff_t{parity} * frame.linesize[p];
    }
  }
}

void VideoEncoder::send(const Pixels& picture, int64_t ticks, bool key, FieldOrder fields) {
  // The encoder may keep a reference to the last buffer, which then returns to the pool later.
  av_frame_unref(frame_.get());
  frame_->format = context_->pix_fmt;
  frame_->width = context_->width, frame_->height = context_->height;
  ff::check_memory(allocator_.fill(*frame_, frame_->width + 31, frame_->height + 31));
  convert(picture, fields);
  frame_->pts = ticks;
  mark_fields(*frame_, fields);
  frame_->colorspace = context_->colorspace;
  frame_->color_range = context_->color_range;
  frame_->color_trc = context_->color_trc;
  frame_->color_primaries = context_->color_primaries;
  frame_->chroma_location = context_->chroma_sample_location;
  frame_->sample_aspect_ratio = context_->sample_aspect_ratio;
  add_hdr_metadata(*frame_, hdr_);
  frame_->pict_type = key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
  if (context_->flags & AV_CODEC_FLAG_QSCALE) frame_->quality = context_->global_quality;
  check(avcodec_send_frame(context_.get(), frame_.get()));
}

void VideoEncoder::send_end() {
  draining_ = true;
  // On failure, the frames that the encoder still holds are lost. AVERROR_EOF: send_end() was called before.
  const int error = avcodec_send_frame(context_.get(), nullptr);
  if (error != AVERROR_EOF) check(error);
}

const AVPacket* VideoEncoder::receive() {
  if (!draining_ || extra_ticks_ == 0) return receive(*packet_) ? packet_.get() : nullptr;
  // Containers compute the length from the last packet in decoding order, which may be of an earlier frame.
  if (!ahead_->data && !receive(*ahead_)) return nullptr;
  std::swap(packet_, ahead_);
  if (!receive(*ahead_) && packet_->pts != last_ticks_) packet_->duration += extra_ticks_;
  return packet_.get();
}

bool VideoEncoder::receive(AVPacket& packet) const {
  av_packet_unref(&packet);
  const int error = avcodec_receive_packet(context_.get(), &packet);
  if (error == AVERROR(EAGAIN) || error == AVERROR_EOF) return false;
  check(error);
  if (packet.duration <= 0) packet.duration = frame_ticks_;
  if (packet.pts == last_ticks_) packet.duration += extra_ticks_;
  return true;
}

void VideoEncoder::check(int error) const {
  if (error < 0)
    throw Error(ExitCode::runtime_failure, where_, "cannot encode a frame: " + ff::error_text(error));
}

}  // namespace lensd
