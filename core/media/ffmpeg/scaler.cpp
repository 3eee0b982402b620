#include "core/media/ffmpeg/scaler.hpp"

extern "C" {
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

#include "core/media/ffmpeg/pixel_formats.hpp"

namespace lensd {
namespace {

int sws_matrix(YuvMatrix matrix) {
  switch (matrix) {
    case YuvMatrix::bt709:
      return SWS_CS_ITU709;
    case YuvMatrix::bt2020:
      return SWS_CS_BT2020;
    case YuvMatrix::bt601:
      break;
  }
  return SWS_CS_ITU601;
}

const int* coefficients(const PixelsFormat& f) {
  return sws_getCoefficients(is_rgb(f.format) ? SWS_CS_DEFAULT : sws_matrix(f.matrix));
}

}  // namespace

bool is_rgb(AVPixelFormat format) {
  return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_RGB) != 0;
}
bool is_gray(AVPixelFormat format) {
  return av_pix_fmt_desc_get(format)->nb_components <= 2;
}

PixelsFormat pixels_format(ImageFormat format) {
  return {format.format == PixelFormat::gray8 ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_RGBA, format.extent,
          YuvMatrix::bt601, true};
}

std::optional<PixelsFormat> pixels_format(const PictureInfo& info) {
  for (const AVPixFmtDescriptor* d = av_pix_fmt_desc_next(nullptr); d; d = av_pix_fmt_desc_next(d)) {
    const AVPixelFormat format = av_pix_fmt_desc_get_id(d);
    if (is_jpeg_range(format) || picture_format(format) != info.format) continue;
    return PixelsFormat{format, info.extent, info.colour.matrix, info.colour.range == Range::full};
  }
  return std::nullopt;
}

Pixels pixels(ConstImageRef image) {
  return {{image.data}, {static_cast<int>(image.pitch_bytes)}};
}

Pixels pixels(const PictureRef& picture) {
  Pixels out;
  for (size_t i = 0; i < 4; ++i)
    out.planes[i] = picture.planes[i], out.pitches[i] = static_cast<int>(picture.pitch_bytes[i]);
  return out;
}

void Scaler::open(const PixelsFormat& from, const PixelsFormat& to) {
  context_.reset(ff::allocated(sws_alloc_context()));
  rows_ = from.extent.height;
  SwsContext* c = context_.get();
  av_opt_set_int(c, "srcw", from.extent.width, 0);
  av_opt_set_int(c, "srch", from.extent.height, 0);
  av_opt_set_int(c, "dstw", from.extent.width, 0);
  av_opt_set_int(c, "dsth", from.extent.height, 0);
  av_opt_set_int(c, "src_format", from.format, 0);
  av_opt_set_int(c, "dst_format", to.format, 0);
  av_opt_set_int(c, "sws_flags", SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP | SWS_BITEXACT, 0);
  // Chroma as the files are tagged: sited left, between the rows.
  av_opt_set_int(c, "dst_h_chr_pos", 0, 0);
  av_opt_set_int(c, "dst_v_chr_pos", 128, 0);
  if (sws_init_context(c, nullptr, nullptr) < 0)
    throw Error(ExitCode::runtime_failure, "recorder",
                "swscale cannot convert to this encoder's pixel format");
  // Refused where there is nothing to set.
  sws_setColorspaceDetails(c, coefficients(from), from.full_range, coefficients(to), to.full_range, 0,
                           1 << 16, 1 << 16);
}

void Scaler::convert(const Pixels& from, AVFrame& to) const {
  sws_scale(context_.get(), from.planes, from.pitches, 0, rows_, to.data, to.linesize);
}

}  // namespace lensd
