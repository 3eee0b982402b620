#include "core/media/input/convert_fallback.hpp"

extern "C" {
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include <utility>

#include "core/base/log.hpp"
#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"
#include "core/media/ffmpeg/pixels.hpp"

namespace lensd {
namespace {

constexpr int kScaler = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_BITEXACT;

std::string format_name(int format) {
  const char* name = av_get_pix_fmt_name(static_cast<AVPixelFormat>(format));
  return name ? name : "unknown";
}

/// Returns true for float samples, which are proportional to light, as in OpenEXR.
bool is_float(AVPixelFormat format) {
  return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_FLOAT) != 0;
}

/// Sets matrix and range for a conversion from YUV or grey to RGB.
void set_matrix(SwsContext* scaler, const AVFrame& frame) {
  int matrix = frame.colorspace;
  if (matrix == AVCOL_SPC_UNSPECIFIED || matrix == AVCOL_SPC_RGB)
    matrix = colour_space_of(usual_matrix({frame.width, frame.height}));
  const bool gray = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format))->nb_components <= 2;
  const int full =
      frame.color_range == AVCOL_RANGE_JPEG || (gray && frame.color_range == AVCOL_RANGE_UNSPECIFIED);
  // Ignore the result: swscale refuses a matrix if it needs none.
  sws_setColorspaceDetails(scaler, sws_getCoefficients(matrix), full, sws_getCoefficients(SWS_CS_DEFAULT), 1,
                           0, 1 << 16, 1 << 16);
}

/// Returns the position of chroma samples for swscale, in 1/256 pixel. -513 is its default, the centre.
std::pair<int, int> chroma_position(const AVFrame& frame, AVPixelFormat format) {
  constexpr int kCentre = -513;
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(format);
  const bool top_left = frame.chroma_location == AVCHROMA_LOC_TOPLEFT;
  const bool centred = frame.chroma_location == AVCHROMA_LOC_CENTER || is_jpeg_range(format);
  return {d.log2_chroma_w && !centred ? 0 : kCentre, d.log2_chroma_h && top_left ? 0 : kCentre};
}

}  // namespace

void ConvertFallback::convert(ff::FramePtr& frame) {
  const auto from = static_cast<AVPixelFormat>(frame->format);
  const AVPixelFormat to = substitute_of(from);
  if (logged_format_ != from) {
    logged_format_ = from;
    log::info("converting pixel format {} to {}", format_name(from), format_name(to));
  }
  if (!spare_) spare_ = ff::make_frame();
  spare_->format = to;
  spare_->width = frame->width, spare_->height = frame->height;
  ff::check_memory(allocator_.fill(*spare_, frame->width, frame->height));
  if (to == AV_PIX_FMT_RGBA && SmallRgb::reads(from))
    small_rgb_.convert(*frame, *spare_);
  else
    scale(*frame, *spare_);
  void* owner = spare_->opaque;
  av_frame_copy_props(spare_.get(), frame.get());
  spare_->opaque = owner;
  if (is_rgb(to)) spare_->colorspace = AVCOL_SPC_RGB;
  if (is_rgb(to)) spare_->color_range = AVCOL_RANGE_JPEG;
  if (is_float(from) && spare_->color_trc == AVCOL_TRC_UNSPECIFIED) spare_->color_trc = AVCOL_TRC_LINEAR;
  std::swap(spare_, frame);
  av_frame_unref(spare_.get());
}

void ConvertFallback::open_scaler(const ScaleFormat& format) {
  scaler_.reset(ff::allocated(sws_alloc_context()));
  scaled_ = format;
  const std::pair<const char*, int> options[] = {{"srcw", format.width},
                                                 {"srch", format.height},
                                                 {"src_format", format.from},
                                                 {"dstw", format.width},
                                                 {"dsth", format.height},
                                                 {"dst_format", format.to},
                                                 {"sws_flags", kScaler},
                                                 {"src_h_chr_pos", format.chroma_column},
                                                 {"src_v_chr_pos", format.chroma_row}};
  for (const auto& [name, value] : options) av_opt_set_int(scaler_.get(), name, value, 0);
  if (sws_init_context(scaler_.get(), nullptr, nullptr) >= 0) return;
  scaler_.reset();
  throw Error(ExitCode::bad_source, "decoder",
              fmt::format("unsupported pixel format {}", format_name(format.from)));
}

void ConvertFallback::scale(const AVFrame& frame, AVFrame& out) {
  const auto from = static_cast<AVPixelFormat>(frame.format);
  const auto to = static_cast<AVPixelFormat>(out.format);
  const auto [column, row] = chroma_position(frame, from);
  const ScaleFormat format{frame.width, frame.height, from, to, column, row};
  if (!scaler_ || format != scaled_) open_scaler(format);
  // If both formats are RGB, or neither is, matrix and range stay the same.
  const bool to_rgb = is_rgb(to) && !is_rgb(from);
  if (to_rgb) set_matrix(scaler_.get(), frame);
  sws_scale(scaler_.get(), frame.data, frame.linesize, 0, frame.height, out.data, out.linesize);
}

}  // namespace lensd
