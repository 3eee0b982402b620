#include "core/media/ffmpeg/scaler.hpp"

extern "C" {
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

#include "core/media/ffmpeg/picture_info.hpp"

namespace lensd {
namespace {

const int* coefficients(const PixelsFormat& f) {
  return sws_getCoefficients(is_rgb(f.format) ? int{SWS_CS_DEFAULT} : colour_space_of(f.matrix));
}

/// Positions of chroma samples for swscale, in 1/256 pixel.
struct ChromaPosition {
  /// -513 is swscale's default. Other values would shift chroma that is not subsampled.
  int column = -513, row = -513;
};

ChromaPosition chroma_position(const PixelsFormat& f) {
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(f.format);
  ChromaPosition out;
  if (d.log2_chroma_w) out.column = f.siting == ChromaSiting::center ? 128 : 0;
  if (d.log2_chroma_h) out.row = f.siting == ChromaSiting::top_left ? 0 : 128;
  return out;
}

/// Returns a format with the same samples in planes that swscale can read, such as yuv422p for NV16. Returns
/// nullopt if there is no such format.
std::optional<PixelsFormat> readable(PixelsFormat from) {
  const PixelsFormat source = from;
  for (const AVPixFmtDescriptor* d = nullptr; (d = av_pix_fmt_desc_next(d)) != nullptr;) {
    from.format = av_pix_fmt_desc_get_id(d);
    if (av_pix_fmt_count_planes(from.format) >= 3 && has_alpha(from.format) == has_alpha(source.format) &&
        sws_isSupportedInput(from.format) && Repack::of(source, from))
      return from;
  }
  return std::nullopt;
}

}  // namespace

void Scaler::open(PixelsFormat from, const PixelsFormat& to, bool dither) {
  deep_.reset(), repack_.reset(), repacked_.reset();
  if (DeepConverter::supports(from, to)) return deep_.emplace().open(from, to, dither);
  repack_ = Repack::of(from, to);
  if (repack_) return;
  if (!sws_isSupportedInput(from.format))
    if (const auto other = readable(from)) {
      repack_ = Repack::of(from, *other);
      from = *other;
      repacked_ = ff::make_frame();
      repacked_->format = from.format, repacked_->width = from.extent.width,
      repacked_->height = from.extent.height;
      ff::check_memory(av_frame_get_buffer(repacked_.get(), 0));
    }
  context_.reset(ff::allocated(sws_alloc_context()));
  rows_ = from.extent.height;
  SwsContext* c = context_.get();
  const auto [width, height] = from.extent;
  const ChromaPosition source = chroma_position(from), target = chroma_position(to);
  const std::pair<const char*, int> options[] = {
      {"srcw", width},
      {"srch", height},
      {"src_format", from.format},
      {"dstw", width},
      {"dsth", height},
      {"dst_format", to.format},
      {"sws_flags", SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP | SWS_BITEXACT},
      {"src_h_chr_pos", source.column},
      {"src_v_chr_pos", source.row},
      {"dst_h_chr_pos", target.column},
      {"dst_v_chr_pos", target.row}};
  for (const auto& [name, value] : options) av_opt_set_int(c, name, value, 0);
  if (sws_init_context(c, nullptr, nullptr) < 0)
    throw Error(ExitCode::runtime_failure, "encoder",
                "swscale does not support the conversion to this pixel format");
  // Ignore the result: it is an error for RGB to RGB, which needs no matrix.
  sws_setColorspaceDetails(c, coefficients(from), from.full_range, coefficients(to), to.full_range, 0,
                           1 << 16, 1 << 16);
}

void Scaler::convert(const Pixels& from, AVFrame& to) {
  if (deep_) return deep_->convert(from, to);
  if (repack_) repack_->convert(from, repacked_ ? *repacked_ : to);
  if (repacked_)
    sws_scale(context_.get(), repacked_->data, repacked_->linesize, 0, rows_, to.data, to.linesize);
  else if (!repack_)
    sws_scale(context_.get(), from.planes, from.pitches, 0, rows_, to.data, to.linesize);
}

}  // namespace lensd
