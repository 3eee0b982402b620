#include <cstring>
#include <filesystem>

#include "core/base/text/text.hpp"
#include "core/media/ffmpeg/scaler.hpp"
#include "core/media/still.hpp"

namespace lensd {

std::optional<StillEncoder::Type> still_type(const std::string& path) {
  const std::string ending = lower_case(std::filesystem::path(path).extension().string());
  if (ending == ".png") return StillEncoder::Type::png;
  if (ending == ".jpg" || ending == ".jpeg") return StillEncoder::Type::jpeg;
  return std::nullopt;
}

namespace {

/// Returns PNG's pixel format; its samples of 16 bits are big-endian.
AVPixelFormat png_format(PixelFormat format) {
  constexpr AVPixelFormat kFormats[] = {AV_PIX_FMT_GRAY8, AV_PIX_FMT_RGBA, AV_PIX_FMT_GRAY16BE,
                                        AV_PIX_FMT_RGBA64BE};
  return kFormats[static_cast<size_t>(format)];
}

void copy_big_endian(const uint16_t* from, size_t samples, uint8_t* to) {
  for (size_t i = 0; i < samples; ++i)
    to[2 * i] = static_cast<uint8_t>(from[i] >> 8), to[2 * i + 1] = static_cast<uint8_t>(from[i]);
}

}  // namespace

struct StillEncoder::State {
  const bool png;
  ImageFormat format;
  PixelAspect aspect;
  ff::CodecPtr context;
  Scaler scaler;
  ff::FramePtr frame;
  ff::PacketPtr packet = ff::make_packet();

  explicit State(Type type) : png(type == Type::png) {}
  void check(int error) const {
    if (error < 0)
      throw Error(ExitCode::runtime_failure, png ? "PNG" : "JPEG",
                  "cannot encode an image: " + ff::error_text(error));
  }
  void open(const ImageFormat& new_format, PixelAspect new_aspect);
};

void StillEncoder::State::open(const ImageFormat& new_format, PixelAspect new_aspect) {
  const AVCodec* codec = avcodec_find_encoder(png ? AV_CODEC_ID_PNG : AV_CODEC_ID_MJPEG);
  if (!codec) check(AVERROR_ENCODER_NOT_FOUND);
  context.reset(ff::allocated(avcodec_alloc_context3(codec)));
  AVCodecContext& c = *context;
  c.width = new_format.extent.width, c.height = new_format.extent.height;
  if (!new_aspect.square()) c.sample_aspect_ratio = {new_aspect.width, new_aspect.height};
  c.time_base = {1, 25};
  c.thread_count = 1;  // threads would delay the image
  c.pix_fmt = png ? png_format(new_format.format) : AV_PIX_FMT_YUVJ444P;
  if (!png) {
    c.flags |= AV_CODEC_FLAG_QSCALE;
    c.global_quality = 2 * FF_QP2LAMBDA;
    c.color_range = AVCOL_RANGE_JPEG;
    c.colorspace = AVCOL_SPC_BT470BG;
    scaler.open(pixels_format(new_format), {c.pix_fmt, new_format.extent, YuvMatrix::bt601, true});
  }
  check(avcodec_open2(&c, codec, nullptr));
  frame = ff::make_frame();
  frame->format = c.pix_fmt;
  frame->width = c.width, frame->height = c.height;
  frame->color_range = c.color_range;
  frame->quality = c.global_quality;
  ff::check_memory(av_frame_get_buffer(frame.get(), 0));
  format = new_format, aspect = new_aspect;
}

StillEncoder::StillEncoder(Type type) : state_(std::make_unique<State>(type)) {
  ff::initialize();
}
StillEncoder::~StillEncoder() = default;

std::span<const uint8_t> StillEncoder::encode(ConstImageRef image, PixelAspect aspect) {
  State& s = *state_;
  if (!s.context || !(s.format == image.format) || s.aspect != aspect) s.open(image.format, aspect);
  ff::check_memory(av_frame_make_writable(s.frame.get()));
  if (s.png) {
    for (int y = 0; y < image.height(); ++y) {
      uint8_t* const to = s.frame->data[0] + std::ptrdiff_t{y} * s.frame->linesize[0];
      if (image.is_deep())
        copy_big_endian(image.samples<uint16_t>(y), image.format.row_samples(), to);
      else
        std::memcpy(to, image.row(y), image.row_bytes());
    }
  } else {
    s.scaler.convert(pixels(image), *s.frame);
  }
  ++s.frame->pts;
  av_packet_unref(s.packet.get());
  s.check(avcodec_send_frame(s.context.get(), s.frame.get()));
  s.check(avcodec_receive_packet(s.context.get(), s.packet.get()));
  return {s.packet->data, static_cast<size_t>(s.packet->size)};
}

}  // namespace lensd
