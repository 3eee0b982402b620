#include "core/media/ffmpeg/pixel_formats.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace lensd {
namespace {

constexpr uint64_t kRefusedFlags = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                                   AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT;

/// Returns true if each sample is a byte or a 16-bit word at an even offset. Formats that pack three 10-bit
/// components into 32 bits have odd offsets or unequal shifts.
bool whole_words(const AVPixFmtDescriptor& d) {
  for (int i = 0; i < d.nb_components; ++i) {
    const AVComponentDescriptor& c = d.comp[i];
    if (c.depth != d.comp[0].depth || c.shift != d.comp[0].shift) return false;
    if (c.depth < 8 || c.depth > 16 || c.step > 255 || c.offset > 255) return false;
    if (c.depth == 8 && c.shift != 0) return false;
    if (c.depth > 8 && (c.step % 2 != 0 || c.offset % 2 != 0 || c.shift + c.depth > 16)) return false;
  }
  return true;
}

ColourModel model_of(const AVPixFmtDescriptor& d) {
  if (d.nb_components == 1) return ColourModel::gray;
  return d.flags & AV_PIX_FMT_FLAG_RGB ? ColourModel::rgb : ColourModel::yuv;
}

}  // namespace

std::optional<PictureFormat> picture_format(AVPixelFormat format) {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(format);
  if (!d || d->nb_components == 0 || (d->flags & kRefusedFlags)) return std::nullopt;
  // Before FFmpeg 7.1, XYZ has the same descriptor as a 12-bit YUV 4:4:4.
  if (format == AV_PIX_FMT_XYZ12LE || format == AV_PIX_FMT_XYZ12BE) return std::nullopt;
  if (d->nb_components == 2) return std::nullopt;  // grey with alpha; ColourModel::gray has no alpha
  if (d->log2_chroma_w > 1 || d->log2_chroma_h > 1 || !whole_words(*d)) return std::nullopt;

  PictureFormat out;
  out.model = model_of(*d);
  out.depth = static_cast<uint8_t>(d->comp[0].depth);
  out.has_alpha = (d->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
  if (out.model == ColourModel::yuv) {
    out.chroma_shift_x = d->log2_chroma_w;
    out.chroma_shift_y = d->log2_chroma_h;
  }
  out.plane_count = static_cast<uint8_t>(av_pix_fmt_count_planes(format));
  for (int i = 0; i < d->nb_components; ++i) {
    const AVComponentDescriptor& c = d->comp[i];
    const bool alpha = out.has_alpha && i == d->nb_components - 1;
    out.components[alpha ? 3 : static_cast<size_t>(i)] = {
        static_cast<uint8_t>(c.plane), static_cast<uint8_t>(c.step), static_cast<uint8_t>(c.offset),
        static_cast<uint8_t>(c.shift)};
  }
  return out;
}

AVPixelFormat substitute_of(AVPixelFormat format) {
  const AVPixelFormat swapped = av_pix_fmt_swap_endianness(format);
  if (swapped != AV_PIX_FMT_NONE && picture_format(swapped)) return swapped;
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(format);
  if (!d || d->nb_components == 0 || d->comp[0].depth <= 8) return AV_PIX_FMT_RGBA;
  return d->nb_components == 1 ? AV_PIX_FMT_GRAY16LE : AV_PIX_FMT_RGBA64LE;
}

bool is_jpeg_range(AVPixelFormat format) {
  return format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUVJ422P || format == AV_PIX_FMT_YUVJ444P ||
         format == AV_PIX_FMT_YUVJ440P || format == AV_PIX_FMT_YUVJ411P;
}

}  // namespace lensd
