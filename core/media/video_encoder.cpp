#include "core/media/video_encoder.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/base/log.hpp"
#include "core/media/picture_info.hpp"

namespace lensd {
namespace {

/// MPEG's clock: exact for every usual frame rate, fine enough for variable ones.
constexpr AVRational kClock = {1, 90000};

std::vector<AVPixelFormat> supported_formats(const AVCodec& codec) {
  const AVPixelFormat* list = nullptr;
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)  // FFmpeg 7.1 deprecates the array
  const void* found = nullptr;
  avcodec_get_supported_config(nullptr, &codec, AV_CODEC_CONFIG_PIX_FORMAT, 0, &found, nullptr);
  list = static_cast<const AVPixelFormat*>(found);
#else
  list = codec.pix_fmts;
#endif
  std::vector<AVPixelFormat> out;
  for (; list && *list != AV_PIX_FMT_NONE; ++list) out.push_back(*list);
  return out;
}

const AVCodec* choose_codec(const AVOutputFormat& container, const std::string& wanted,
                            const std::string& where) {
  const bool webm = std::string_view(container.name) == "webm";
  if (!wanted.empty()) {
    const AVCodec* codec = avcodec_find_encoder_by_name(wanted.c_str());
    if (!codec)
      if (const AVCodecDescriptor* d = avcodec_descriptor_get_by_name(wanted.c_str()))
        codec = avcodec_find_encoder(d->id);
    if (!codec || codec->type != AVMEDIA_TYPE_VIDEO)
      throw Error(ExitCode::usage, where, fmt::format("there is no video encoder '{}'", wanted),
                  "ffmpeg -encoders lists them");
    return codec;
  }
  for (const char* name : {webm ? "libvpx-vp9" : "libx264", webm ? "libvpx" : "mpeg4"})
    if (const AVCodec* codec = avcodec_find_encoder_by_name(name)) return codec;
  throw Error(ExitCode::runtime_failure, where, "FFmpeg has no encoder for this file type here");
}

bool lossless_only(AVCodecID id) {
  const AVCodecDescriptor* d = avcodec_descriptor_get(id);
  return d && (d->props & AV_CODEC_PROP_LOSSLESS) && !(d->props & AV_CODEC_PROP_LOSSY);
}

/// MPEG's first codecs know a list of frame rates or a 16-bit clock. (AVI has a rate only, too.)
bool counts_frames(AVCodecID id) {
  return id == AV_CODEC_ID_MPEG1VIDEO || id == AV_CODEC_ID_MPEG2VIDEO || id == AV_CODEC_ID_MPEG4;
}

void set_quality(AVCodecContext& c, std::string_view codec, ff::Options& options) {
  if (codec == "libx264" || codec == "libx265") {
    options.set("preset", "veryfast");
    options.set("crf", "18");
  } else if (codec == "libvpx-vp9" || codec == "libvpx") {
    options.set("deadline", "realtime");
    options.set("cpu-used", "8");
    options.set("row-mt", "1");
    options.set("crf", "20");
    c.bit_rate = codec == "libvpx" ? 8'000'000 : 0;  // VP8's crf needs a ceiling
  } else if (!lossless_only(c.codec_id)) {
    c.flags |= AV_CODEC_FLAG_QSCALE;
    c.global_quality = 2 * FF_QP2LAMBDA;
  }
}

}  // namespace

VideoEncoder::VideoEncoder(const AVOutputFormat& container, ImageFormat format,
                           const RecorderOptions& options, const std::string& where)
    : where_(where) {
  const AVCodec* codec = choose_codec(container, options.codec, where);
  if (avformat_query_codec(&container, codec->id, FF_COMPLIANCE_NORMAL) == 0)
    throw Error(ExitCode::usage, where, fmt::format("{} does not fit into this file type", codec->name),
                "use .mkv");
  context_.reset(ff::allocated(avcodec_alloc_context3(codec)));
  AVCodecContext& c = *context_;
  const AVRational rate =
      av_d2q(options.fps > 0 && std::isfinite(options.fps) ? options.fps : 25.0, 1001 * 1000);
  const bool fixed_rate = std::string_view(container.name) == "avi" || counts_frames(codec->id);
  c.time_base = fixed_rate ? av_inv_q(rate) : kClock;
  frame_ticks_ = std::max<int64_t>(1, av_rescale_q(1, av_inv_q(rate), c.time_base));
  c.framerate = rate;
  c.width = format.extent.width, c.height = format.extent.height;
  c.gop_size = std::clamp(static_cast<int>(av_q2d(rate) * 5), 1, 250);
  if (fixed_rate) c.max_b_frames = 0;
  if (container.flags & AVFMT_GLOBALHEADER) c.flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  c.pix_fmt = choose_format(*codec, format);
  set_colour(format);
  ff::Options settings;
  set_quality(c, codec->name, settings);
  if (const int error = avcodec_open2(&c, codec, settings.get()); error < 0)
    throw Error(ExitCode::runtime_failure, where,
                fmt::format("the {} encoder does not take {}×{} pictures: {}", codec->name, c.width, c.height,
                            ff::error_text(error)));
}

AVPixelFormat VideoEncoder::choose_format(const AVCodec& codec, ImageFormat format) const {
  const std::vector<AVPixelFormat> supported = supported_formats(codec);
  const auto has = [&](AVPixelFormat f) {
    return std::find(supported.begin(), supported.end(), f) != supported.end();
  };
  std::vector<AVPixelFormat> wishes;
  if (lossless_only(codec.id)) {
    if (format.format == PixelFormat::gray8) wishes.push_back(AV_PIX_FMT_GRAY8);
    for (const AVPixelFormat f : {AV_PIX_FMT_RGBA, AV_PIX_FMT_BGRA, AV_PIX_FMT_GBRAP, AV_PIX_FMT_BGR0,
                                  AV_PIX_FMT_GBRP, AV_PIX_FMT_RGB24})
      wishes.push_back(f);
  }
  // H.264 in 4:2:0 wants even sides; 4:4:4 keeps odd ones whole.
  const bool odd = (format.extent.width | format.extent.height) & 1;
  if (odd) wishes.push_back(AV_PIX_FMT_YUV444P);
  for (const AVPixelFormat f :
       {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P})
    wishes.push_back(f);
  for (const AVPixelFormat f : wishes)
    if (has(f)) return f;
  if (supported.empty()) return AV_PIX_FMT_YUV420P;
  return avcodec_find_best_pix_fmt_of_list(supported.data(), av_format(format.format), 0, nullptr);
}

void VideoEncoder::set_colour(ImageFormat format) {
  AVCodecContext& c = *context_;
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(c.pix_fmt);
  const bool jpeg = c.codec_id == AV_CODEC_ID_MJPEG;
  const bool hd = !jpeg && guessed_matrix(format.extent) == YuvMatrix::bt709;
  const bool full = jpeg || (d.flags & AV_PIX_FMT_FLAG_RGB) || d.nb_components <= 2;
  if (d.flags & AV_PIX_FMT_FLAG_RGB)
    c.colorspace = AVCOL_SPC_RGB;
  else if (d.nb_components > 2)
    c.colorspace = hd ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
  c.color_range = full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  if (d.log2_chroma_w) c.chroma_sample_location = AVCHROMA_LOC_LEFT;
  scaler_.open(format, c.pix_fmt, hd ? SWS_CS_ITU709 : SWS_CS_ITU601, full);
}

void VideoEncoder::send(ConstImageRef image, int64_t pts) {
  // Encoders may keep a frame for a while; its buffer comes back to the pool by itself.
  av_frame_unref(frame_.get());
  frame_->format = context_->pix_fmt;
  frame_->width = context_->width, frame_->height = context_->height;
  if (allocator_.fill(*frame_, frame_->width + 31, frame_->height + 31) < 0)
    throw Error(ExitCode::runtime_failure, where_, "no memory for encoding");
  scaler_.convert(image, *frame_);
  frame_->pts = pts;
  frame_->colorspace = context_->colorspace;
  frame_->color_range = context_->color_range;
  frame_->chroma_location = context_->chroma_sample_location;
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
