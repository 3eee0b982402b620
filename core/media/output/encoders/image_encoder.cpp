#include "core/media/output/encoders/image_encoder.hpp"

#include <cstring>
#include <filesystem>

#include "core/base/text.hpp"
#include "core/base/whole_file.hpp"
#include "core/media/recorder.hpp"

namespace lensd {
bool image_file_type(const std::string& path, ImageFileType& type) {
  const std::string ending = lower_case(std::filesystem::path(path).extension().string());
  if (ending != ".png" && ending != ".jpg" && ending != ".jpeg") return false;
  type = ending == ".png" ? ImageFileType::png : ImageFileType::jpeg;
  return true;
}

void ImageEncoder::open(const ImageFormat& format) {
  const bool png = type_ == ImageFileType::png;
  const AVCodec* codec = avcodec_find_encoder(png ? AV_CODEC_ID_PNG : AV_CODEC_ID_MJPEG);
  if (!codec)
    throw Error(ExitCode::runtime_failure, "recorder",
                png ? "FFmpeg has no PNG encoder" : "FFmpeg has no JPEG encoder");
  context_.reset(ff::allocated(avcodec_alloc_context3(codec)));
  AVCodecContext& c = *context_;
  c.width = format.extent.width, c.height = format.extent.height;
  c.time_base = {1, 25};
  c.thread_count = 1;  // a threaded encoder hands out the image late
  c.pix_fmt = png ? pixels_format(format).format : AV_PIX_FMT_YUVJ444P;
  if (!png) {
    c.flags |= AV_CODEC_FLAG_QSCALE;
    c.global_quality = 2 * FF_QP2LAMBDA;
    c.color_range = AVCOL_RANGE_JPEG;
    c.colorspace = AVCOL_SPC_BT470BG;
    scaler_.open(pixels_format(format), {c.pix_fmt, format.extent, YuvMatrix::bt601, true});
  }
  if (const int error = avcodec_open2(&c, codec, nullptr); error < 0)
    throw Error(ExitCode::runtime_failure, "recorder",
                "the image encoder does not start: " + ff::error_text(error));
  frame_ = ff::make_frame();
  frame_->format = c.pix_fmt;
  frame_->width = c.width, frame_->height = c.height;
  frame_->color_range = c.color_range;
  frame_->quality = c.global_quality;
  if (av_frame_get_buffer(frame_.get(), 0) < 0)
    throw Error(ExitCode::runtime_failure, "recorder", "no memory for an image");
  format_ = format;
}

std::span<const uint8_t> ImageEncoder::encode(ConstImageRef image) {
  if (!context_ || !(format_ == image.format)) open(image.format);
  if (av_frame_make_writable(frame_.get()) < 0)
    throw Error(ExitCode::runtime_failure, "recorder", "no memory for an image");
  if (type_ == ImageFileType::png) {
    for (int y = 0; y < image.height(); ++y)
      std::memcpy(frame_->data[0] + std::ptrdiff_t{y} * frame_->linesize[0], image.row(y), image.row_bytes());
  } else {
    scaler_.convert(pixels(image), *frame_);
  }
  ++frame_->pts;
  av_packet_unref(packet_.get());
  int error = avcodec_send_frame(context_.get(), frame_.get());
  if (error >= 0) error = avcodec_receive_packet(context_.get(), packet_.get());
  if (error < 0)
    throw Error(ExitCode::runtime_failure, "recorder",
                "the image cannot be encoded: " + ff::error_text(error));
  return {packet_->data, static_cast<size_t>(packet_->size)};
}

void write_image(const std::string& path, ConstImageRef image) {
  ImageFileType type;
  if (!image_file_type(path, type)) throw Error(ExitCode::usage, path, "images are written as .png or .jpg");
  ImageEncoder encoder(type);
  write_whole_file(path, encoder.encode(image), Flush::to_disk, MissingFolders::refuse);
}

}  // namespace lensd
