#include "core/media/ffmpeg/scaler.hpp"

extern "C" {
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"

namespace lensd {
namespace {

const int* coefficients(const PixelsFormat& f) {
  return sws_getCoefficients(is_rgb(f.format) ? int{SWS_CS_DEFAULT} : colour_space_of(f.matrix));
}

}  // namespace

bool is_rgb(AVPixelFormat format) {
  return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_RGB) != 0;
}
bool is_gray(AVPixelFormat format) {
  return av_pix_fmt_desc_get(format)->nb_components <= 2;
}

PixelsFormat pixels_format(ImageFormat format, PixelAspect aspect) {
  constexpr AVPixelFormat kFormats[] = {AV_PIX_FMT_GRAY8, AV_PIX_FMT_RGBA, AV_PIX_FMT_GRAY16,
                                        AV_PIX_FMT_RGBA64};
  return {kFormats[static_cast<size_t>(format.format)], format.extent, YuvMatrix::bt601, true, aspect};
}

std::optional<PixelsFormat> pixels_format(const PictureInfo& info, PixelAspect aspect) {
  for (const AVPixFmtDescriptor* d = av_pix_fmt_desc_next(nullptr); d; d = av_pix_fmt_desc_next(d)) {
    const AVPixelFormat format = av_pix_fmt_desc_get_id(d);
    if (is_jpeg_range(format) || picture_format(format) != info.format) continue;
    const ColourSpec& c = info.colour;
    return PixelsFormat{format, info.extent, c.matrix,   c.range == Range::full,
                        aspect, c.transfer,  c.primaries};
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
  const auto [width, height] = from.extent;
  const std::pair<const char*, int> options[] = {
      {"srcw", width},
      {"srch", height},
      {"src_format", from.format},
      {"dstw", width},
      {"dsth", height},
      {"dst_format", to.format},
      {"sws_flags", SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP | SWS_BITEXACT},
      // In 1/256 pixel. Must match AVCHROMA_LOC_LEFT, which the encoder sets: chroma at luma column 0,
      // halfway between two luma rows.
      {"dst_h_chr_pos", 0},
      {"dst_v_chr_pos", 128}};
  for (const auto& [name, value] : options) av_opt_set_int(c, name, value, 0);
  if (sws_init_context(c, nullptr, nullptr) < 0)
    throw Error(ExitCode::runtime_failure, "encoder",
                "swscale does not support the conversion to this pixel format");
  // Ignore the result: it is an error for RGB to RGB, which needs no matrix.
  sws_setColorspaceDetails(c, coefficients(from), from.full_range, coefficients(to), to.full_range, 0,
                           1 << 16, 1 << 16);
}

void Scaler::convert(const Pixels& from, AVFrame& to) const {
  sws_scale(context_.get(), from.planes, from.pitches, 0, rows_, to.data, to.linesize);
}

}  // namespace lensd
