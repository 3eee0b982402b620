#include "core/media/output/encoders/video_encoder.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/output/encoders/encoder_choice.hpp"

namespace lensd {
namespace {

/// MPEG's clock: exact for every usual frame rate, fine enough for variable ones.
constexpr AVRational kClock = {1, 90000};

AVColorSpace colour_space(YuvMatrix matrix) {
  switch (matrix) {
    case YuvMatrix::bt709:
      return AVCOL_SPC_BT709;
    case YuvMatrix::bt2020:
      return AVCOL_SPC_BT2020_NCL;
    case YuvMatrix::bt601:
      break;
  }
  return AVCOL_SPC_SMPTE170M;
}

/// What to do when the last encoder of the list did not start.
std::string advice(const EncoderOptions& options) {
  if (options.codec.ends_with("_nvenc"))
    return "it needs an NVIDIA GPU with its driver; codec = \"libx264\" works everywhere";
  return options.preset.empty() ? "" : fmt::format("is '{}' one of its presets?", options.preset);
}

}  // namespace

VideoEncoder::VideoEncoder(const AVOutputFormat& container, const PixelsFormat& input, double fps,
                           const EncoderOptions& options, const std::string& where)
    : where_(where), input_(input) {
  const std::vector<const AVCodec*> encoders = encoders_for(container, options, where);
  for (const AVCodec* codec : encoders) {
    try {
      start(*codec, container, fps, options);
      break;
    } catch (const Error& error) {
      // Of a list, those that do not start are passed over: NVENC is there or not.
      if (codec == encoders.back() || options.codec != "hardware") throw;
      notice_ = fmt::format("{}; {} is used", error.problem(), encoders.back()->name);
    }
  }
}

void VideoEncoder::start(const AVCodec& codec, const AVOutputFormat& container, double fps,
                         const EncoderOptions& options) {
  context_.reset(ff::allocated(avcodec_alloc_context3(&codec)));
  AVCodecContext& c = *context_;
  const AVRational rate = av_d2q(fps > 0 && std::isfinite(fps) ? fps : 25.0, 1001 * 1000);
  const bool fixed_rate = std::string_view(container.name) == "avi" || counts_frames(codec.id);
  c.time_base = fixed_rate ? av_inv_q(rate) : kClock;
  frame_ticks_ = std::max<int64_t>(1, av_rescale_q(1, av_inv_q(rate), c.time_base));
  c.framerate = rate;
  c.width = input_.extent.width, c.height = input_.extent.height;
  if (container.flags & AVFMT_GLOBALHEADER) c.flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  output_ = output_format(choose_format(codec, input_), codec.id, input_);
  c.pix_fmt = output_.format;
  set_colour(c);
  scaler_.open(input_, output_);
  ff::Options settings;
  set_rate(c, options, settings);
  if (fixed_rate) c.max_b_frames = 0;
  ff::forget_log();
  if (const int error = avcodec_open2(&c, &codec, settings.get()); error < 0) {
    const std::string said = ff::last_log();
    throw Error(ExitCode::runtime_failure, where_,
                fmt::format("the {} encoder does not start with {}×{} pictures: {}", codec.name, c.width,
                            c.height, said.empty() ? ff::error_text(error) : said),
                advice(options));
  }
}

AVPixelFormat VideoEncoder::choose_format(const AVCodec& codec, const PixelsFormat& input) {
  const std::vector<AVPixelFormat> supported = supported_formats(codec);
  const auto has = [&](AVPixelFormat f) {
    return std::find(supported.begin(), supported.end(), f) != supported.end();
  };
  const bool working = input.format == AV_PIX_FMT_RGBA || input.format == AV_PIX_FMT_GRAY8;
  std::vector<AVPixelFormat> wishes;
  // A decoded YUV picture goes in as it is, where the encoder takes its layout.
  if (!working && !is_rgb(input.format)) wishes.push_back(input.format);
  if (lossless_only(codec.id)) {
    if (is_gray(input.format)) wishes.push_back(input.format);
    for (const AVPixelFormat f : {AV_PIX_FMT_RGBA, AV_PIX_FMT_BGRA, AV_PIX_FMT_GBRAP, AV_PIX_FMT_BGR0,
                                  AV_PIX_FMT_GBRP, AV_PIX_FMT_RGB24})
      wishes.push_back(f);
  }
  // H.264 in 4:2:0 wants even sides; 4:4:4 keeps odd ones whole.
  const bool odd = (input.extent.width | input.extent.height) & 1;
  if (odd) wishes.push_back(AV_PIX_FMT_YUV444P);
  for (const AVPixelFormat f :
       {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P})
    wishes.push_back(f);
  for (const AVPixelFormat f : wishes)
    if (has(f)) return f;
  if (supported.empty()) return AV_PIX_FMT_YUV420P;
  return avcodec_find_best_pix_fmt_of_list(supported.data(), input.format, 0, nullptr);
}

/// Colours as the file is tagged: those of a YUV input, else the usual ones of the size.
PixelsFormat VideoEncoder::output_format(AVPixelFormat format, AVCodecID codec, const PixelsFormat& input) {
  PixelsFormat out{format, input.extent, YuvMatrix::bt601, true};
  const bool jpeg = codec == AV_CODEC_ID_MJPEG;
  const bool from_yuv = !is_rgb(input.format) && !is_gray(input.format);
  if (from_yuv && !jpeg)
    out.matrix = input.matrix;
  else if (!jpeg)
    out.matrix = guessed_matrix(input.extent);
  out.full_range =
      jpeg || is_rgb(format) || is_gray(format) || (from_yuv && input.full_range && format == input.format);
  return out;
}

void VideoEncoder::set_colour(AVCodecContext& c) const {
  if (is_rgb(output_.format))
    c.colorspace = AVCOL_SPC_RGB;
  else if (!is_gray(output_.format))
    c.colorspace = colour_space(output_.matrix);
  c.color_range = output_.full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  if (av_pix_fmt_desc_get(c.pix_fmt)->log2_chroma_w) c.chroma_sample_location = AVCHROMA_LOC_LEFT;
}

bool VideoEncoder::adapt(const PixelsFormat& input) {
  if (input == input_) return true;
  const AVCodec& codec = *context_->codec;
  if (output_format(choose_format(codec, input), codec.id, input) != output_) return false;
  scaler_.open(input, output_);
  input_ = input;
  return true;
}

void VideoEncoder::send(const Pixels& picture, int64_t pts, bool key) {
  // Encoders may keep a frame for a while; its buffer comes back to the pool by itself.
  av_frame_unref(frame_.get());
  frame_->format = context_->pix_fmt;
  frame_->width = context_->width, frame_->height = context_->height;
  if (allocator_.fill(*frame_, frame_->width + 31, frame_->height + 31) < 0)
    throw Error(ExitCode::runtime_failure, where_, "no memory for encoding");
  scaler_.convert(picture, *frame_);
  frame_->pts = pts;
  frame_->colorspace = context_->colorspace;
  frame_->color_range = context_->color_range;
  frame_->chroma_location = context_->chroma_sample_location;
  frame_->pict_type = key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
  if (context_->flags & AV_CODEC_FLAG_QSCALE) frame_->quality = context_->global_quality;
  if (const int error = avcodec_send_frame(context_.get(), frame_.get()); error < 0)
    throw Error(ExitCode::runtime_failure, where_, "a frame cannot be encoded: " + ff::error_text(error));
}

void VideoEncoder::send_end() {
  avcodec_send_frame(context_.get(), nullptr);
}

bool VideoEncoder::receive(AVPacket& packet) {
  av_packet_unref(&packet);
  const int error = avcodec_receive_packet(context_.get(), &packet);
  if (error == AVERROR(EAGAIN) || error == AVERROR_EOF) return false;
  if (error < 0)
    throw Error(ExitCode::runtime_failure, where_, "a frame cannot be encoded: " + ff::error_text(error));
  if (packet.duration <= 0) packet.duration = frame_ticks_;
  return true;
}

}  // namespace lensd
