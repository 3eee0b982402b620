#include "core/media/ffmpeg/pixels.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include "core/media/ffmpeg/pixel_formats.hpp"

namespace lensd {

namespace {

StreamTags stream_tags(const CodePoints& coded) {
  return {.matrix = static_cast<AVColorSpace>(coded.matrix),
          .transfer = static_cast<AVColorTransferCharacteristic>(coded.transfer),
          .primaries = static_cast<AVColorPrimaries>(coded.primaries)};
}

}  // namespace

bool is_rgb(AVPixelFormat format) {
  return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_RGB) != 0;
}
bool is_gray(AVPixelFormat format) {
  return av_pix_fmt_desc_get(format)->nb_components <= 2;
}
bool has_alpha(AVPixelFormat format) {
  return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
}

PixelsFormat pixels_format(ImageFormat format, PixelAspect aspect, ColourTags tags) {
  constexpr AVPixelFormat kFormats[] = {AV_PIX_FMT_GRAY8, AV_PIX_FMT_RGBA, AV_PIX_FMT_GRAY16,
                                        AV_PIX_FMT_RGBA64};
  PixelsFormat out{kFormats[static_cast<size_t>(format.format)],
                   format.extent,
                   YuvMatrix::bt601,
                   true,
                   aspect,
                   tags.transfer,
                   tags.primaries};
  out.alpha = tags.alpha;
  return out;
}

std::optional<PixelsFormat> pixels_format(const PictureInfo& info, PixelAspect aspect) {
  for (const AVPixFmtDescriptor* d = av_pix_fmt_desc_next(nullptr); d; d = av_pix_fmt_desc_next(d)) {
    const AVPixelFormat format = av_pix_fmt_desc_get_id(d);
    if (is_jpeg_range(format) || picture_format(format) != info.format) continue;
    const ColourSpec& c = info.colour;
    PixelsFormat out{format, info.extent, c.matrix,    c.range == Range::full,
                     aspect, c.transfer,  c.primaries, c.siting};
    out.alpha = info.format.has_alpha, out.orientation = info.orientation, out.decoded = true;
    if (c.coded.present) out.tags = stream_tags(c.coded);
    return out;
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

}  // namespace lensd
