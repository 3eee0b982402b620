#include "core/media/output/encoders/encoder_format.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/contains.hpp"
#include "core/media/encoder_options.hpp"
#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"
#include "core/media/output/encoders/encoder_choice.hpp"

namespace lensd {
namespace {

const AVPixFmtDescriptor& descriptor(AVPixelFormat format) {
  return *av_pix_fmt_desc_get(format);
}

bool is_yuv(AVPixelFormat format) {
  return !is_rgb(format) && !is_gray(format);
}

bool is_deep(AVPixelFormat format) {
  return descriptor(format).comp[0].depth > 8;
}

bool is_surface(AVPixelFormat format) {
  return (descriptor(format).flags & AV_PIX_FMT_FLAG_HWACCEL) != 0;
}

bool is_working(AVPixelFormat format) {
  return format == AV_PIX_FMT_RGBA || format == AV_PIX_FMT_GRAY8 || format == AV_PIX_FMT_RGBA64 ||
         format == AV_PIX_FMT_GRAY16;
}

bool same_subsampling(AVPixelFormat a, AVPixelFormat b) {
  return is_yuv(a) && is_yuv(b) && descriptor(a).log2_chroma_w == descriptor(b).log2_chroma_w &&
         descriptor(a).log2_chroma_h == descriptor(b).log2_chroma_h;
}

/// Returns true for formats that represent the colours of a decoded picture: no palette, Bayer pattern, float
/// or XYZ.
bool holds_colours(AVPixelFormat format) {
  constexpr uint64_t kOther =
      AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_FLOAT;
  if (format == AV_PIX_FMT_XYZ12LE || format == AV_PIX_FMT_XYZ12BE) return false;
  const AVPixFmtDescriptor& d = descriptor(format);
  return d.nb_components >= 3 && !(d.flags & kOther) && d.comp[0].depth >= 8;
}

/// Returns true for YUV and grey sources, which keep their depth if the encoder has such a format. Grey with
/// 8 bits counts as a working image.
bool keeps_depth(const PixelsFormat& input) {
  const bool decoded = input.decoded ? input.format != AV_PIX_FMT_GRAY8 : !is_working(input.format);
  return decoded && !is_rgb(input.format);
}

/// What a decoded picture loses in another format, the worst first, then what the format adds.
using Loss = std::array<int, 6>;

Loss loss_of(AVPixelFormat from, AVPixelFormat to, int depth) {
  const AVPixFmtDescriptor &a = descriptor(from), &b = descriptor(to);
  const int more_depth = b.comp[0].depth - depth;
  const int chroma = (b.log2_chroma_w - a.log2_chroma_w) * 2 + (b.log2_chroma_h - a.log2_chroma_h) * 2;
  const int lost_chroma =
      std::max(0, b.log2_chroma_w - a.log2_chroma_w) + std::max(0, b.log2_chroma_h - a.log2_chroma_h);
  const int alpha = int{has_alpha(to)} - int{has_alpha(from)};
  const bool packed = av_pix_fmt_count_planes(to) < 3;
  return {is_rgb(from) != is_rgb(to),
          std::max(0, -more_depth),
          lost_chroma,
          std::max(0, -alpha),
          std::max(0, more_depth) + std::max(0, -chroma) + std::max(0, alpha),
          int{is_jpeg_range(to)} + int{packed}};
}

/// Returns the format in which a decoded picture loses least; the first one if several are equal. Returns
/// AV_PIX_FMT_NONE if none is suitable.
AVPixelFormat closest(const std::vector<AVPixelFormat>& supported, const PixelsFormat& input, int depth) {
  AVPixelFormat best = AV_PIX_FMT_NONE;
  Loss least{};
  for (const AVPixelFormat format : supported) {
    if (!holds_colours(format)) continue;
    const Loss loss = loss_of(input.format, format, depth);
    if (best == AV_PIX_FMT_NONE || loss < least) best = format, least = loss;
  }
  return best;
}

/// Returns the formats for working images, and for decoded RGB and grey pictures, in order of preference.
std::vector<AVPixelFormat> image_formats(const AVCodec& codec, const PixelsFormat& input, int depth) {
  std::vector<AVPixelFormat> out;
  const auto add = [&](std::initializer_list<AVPixelFormat> formats) { out.insert(out.end(), formats); };
  const bool lossless = lossless_only(codec.id), deep = is_deep(input.format);
  if (lossless || keeps_depth(input)) add({input.format});
  if (!lossless && keeps_depth(input) && deep && is_gray(input.format))
    add({AV_PIX_FMT_GRAY12, AV_PIX_FMT_GRAY10});
  if (lossless && deep) add({AV_PIX_FMT_RGBA64, AV_PIX_FMT_GBRAP16, AV_PIX_FMT_RGB48});
  if (lossless)
    add({AV_PIX_FMT_RGBA, AV_PIX_FMT_BGRA, AV_PIX_FMT_ARGB, AV_PIX_FMT_ABGR, AV_PIX_FMT_GBRAP,
         AV_PIX_FMT_BGR0, AV_PIX_FMT_GBRP, AV_PIX_FMT_RGB24});
  // Players of WebM show the transparency of this format only.
  const bool vpx = codec.id == AV_CODEC_ID_VP8 || codec.id == AV_CODEC_ID_VP9;
  if (vpx && input.alpha && depth != 10 && !is_hdr(input.transfer)) add({AV_PIX_FMT_YUVA420P});
  // H.264 in 4:2:0 needs even sides, 4:4:4 does not.
  const bool odd = (input.extent.width | input.extent.height) & 1;
  // HDR standards define no formats with 8 bits, and players of HDR decode at least 10 bits.
  const bool ten =
      depth == 10 || (depth == 0 && (is_hdr(input.transfer) || (deep && codec.id != AV_CODEC_ID_H264)));
  if (ten && input.alpha) add({AV_PIX_FMT_YUVA444P10, AV_PIX_FMT_YUVA422P10});
  if (ten && odd) add({AV_PIX_FMT_YUV444P10});
  if (ten) add({AV_PIX_FMT_YUV420P10, AV_PIX_FMT_P010, AV_PIX_FMT_YUV422P10, AV_PIX_FMT_YUV444P10});
  if (odd) add({AV_PIX_FMT_YUV444P});
  add({AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P});
  // ProRes has no format with 8 bits.
  if (input.alpha) add({AV_PIX_FMT_YUVA444P10, AV_PIX_FMT_YUVA422P10});
  return out;
}

bool only_surfaces(const AVCodec& codec) {
  const std::vector<AVPixelFormat> supported = supported_formats(codec);
  return !supported.empty() && std::ranges::all_of(supported, is_surface);
}

/// Returns AV_PIX_FMT_NONE if no format is suitable.
AVPixelFormat choose(const AVCodec& codec, const PixelsFormat& input, const EncoderOptions& options) {
  std::vector<AVPixelFormat> supported = supported_formats(codec);
  const bool decoded_yuv = is_yuv(input.format),
             decoded_rgb = is_rgb(input.format) && !is_working(input.format);
  if (supported.empty()) return AV_PIX_FMT_YUV420P;
  std::erase_if(supported, is_surface);  // pictures are in host memory
  if (supported.empty()) return AV_PIX_FMT_NONE;
  if (decoded_yuv || (decoded_rgb && lossless_only(codec.id))) {
    if (contains(supported, input.format)) return input.format;
    int depth = descriptor(input.format).comp[0].depth;
    if (is_hdr(input.transfer)) depth = std::max(depth, 10);
    if (const AVPixelFormat best = closest(supported, input, depth); best != AV_PIX_FMT_NONE) return best;
  }
  for (const AVPixelFormat format : image_formats(codec, input, options.depth))
    if (contains(supported, format)) return format;
  // Opaque pictures get a format without transparency if there is one.
  if (!input.alpha && !std::ranges::all_of(supported, has_alpha)) std::erase_if(supported, has_alpha);
  supported.push_back(AV_PIX_FMT_NONE);  // ends FFmpeg's list
  return avcodec_find_best_pix_fmt_of_list(supported.data(), input.format, input.alpha, nullptr);
}

/// JPEG and MPEG-1 define centred chroma. Other codecs store the siting, or their chroma is usually sited
/// left.
ChromaSiting default_siting(AVCodecID codec) {
  const bool centred = codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_MPEG1VIDEO;
  return centred ? ChromaSiting::center : ChromaSiting::left;
}

}  // namespace

PixelsFormat encoder_format(const AVCodec& codec, const PixelsFormat& input, const EncoderOptions& options,
                            const std::string& where) {
  const AVPixelFormat format = choose(codec, input, options);
  if (format == AV_PIX_FMT_NONE)
    throw Error(
        ExitCode::usage, where,
        only_surfaces(codec)
            ? fmt::format("{} encodes only surfaces of a GPU, and lensd's pictures are in host memory",
                          codec.name)
            : fmt::format("{} has no pixel format for {} pictures", codec.name,
                          av_get_pix_fmt_name(input.format)),
        "choose another codec");
  PixelsFormat out = input;
  out.format = format, out.alpha = has_alpha(format);
  out.matrix = YuvMatrix::bt601;
  const bool jpeg = codec.id == AV_CODEC_ID_MJPEG, from_yuv = is_yuv(input.format);
  if (from_yuv && !jpeg)
    out.matrix = input.matrix;
  else if (!jpeg && options.matrix)
    out.matrix = *options.matrix;
  else if (!jpeg)
    out.matrix = input.primaries == Primaries::bt2020 ? YuvMatrix::bt2020 : usual_matrix(input.extent);
  const bool same = same_subsampling(input.format, format);
  out.full_range =
      jpeg || is_rgb(format) || is_gray(format) || is_jpeg_range(format) || (same && input.full_range);
  // Of the source's tags, the conversion changes only the matrix.
  const bool unconverted = (from_yuv && is_yuv(format) && !jpeg) || (is_rgb(input.format) && is_rgb(format));
  if (out.tags && !unconverted) out.tags->matrix = colour_space_of(out.matrix);
  const ChromaSiting usual = default_siting(codec.id);
  out.siting = same && usual == ChromaSiting::left ? input.siting : usual;
  return out;
}

std::string conversion_notice(const AVCodec& codec, const PixelsFormat& input, const PixelsFormat& output) {
  const bool shallow = !is_deep(output.format);
  std::string lost;
  const auto add = [&](const char* what) {
    lost += lost.empty() ? "" : ", ";
    lost += what;
  };
  if (keeps_depth(input)) {
    const Loss loss = loss_of(input.format, output.format, descriptor(input.format).comp[0].depth);
    if (loss[1]) add("fewer bits per sample");
    if (loss[2] && is_yuv(input.format)) add("fewer chroma samples");
  }
  if (!is_working(input.format) && input.alpha && !output.alpha) add("no transparency");
  if (is_hdr(input.transfer) && shallow) add("8 bits, which show bands in HDR");
  if (lost.empty()) return {};
  return fmt::format("{} encodes as {}: {}", codec.name, av_get_pix_fmt_name(output.format), lost);
}

}  // namespace lensd
