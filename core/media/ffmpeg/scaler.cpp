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

/// Returns an option of swscale for the position of chroma samples: `position` in 1/256 pixel, or swscale's
/// default if the direction is not subsampled, because it would shift chroma there.
int chroma_position(int subsampling, int position) {
  return subsampling ? position : -513;
}

}  // namespace

void Scaler::open(const PixelsFormat& from, const PixelsFormat& to, bool dither) {
  deep_.reset();
  if (DeepConverter::supports(from, to)) return deep_.emplace().open(from, to, dither);
  context_.reset(ff::allocated(sws_alloc_context()));
  rows_ = from.extent.height;
  SwsContext* c = context_.get();
  const auto [width, height] = from.extent;
  const AVPixFmtDescriptor& target = *av_pix_fmt_desc_get(to.format);
  const std::pair<const char*, int> options[] = {
      {"srcw", width},
      {"srch", height},
      {"src_format", from.format},
      {"dstw", width},
      {"dsth", height},
      {"dst_format", to.format},
      {"sws_flags", SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP | SWS_BITEXACT},
      // Must match AVCHROMA_LOC_LEFT, which the encoder sets: chroma at luma column 0, halfway between two
      // luma rows.
      {"dst_h_chr_pos", chroma_position(target.log2_chroma_w, 0)},
      {"dst_v_chr_pos", chroma_position(target.log2_chroma_h, 128)}};
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
  sws_scale(context_.get(), from.planes, from.pitches, 0, rows_, to.data, to.linesize);
}

}  // namespace lensd
