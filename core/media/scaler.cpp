#include "core/media/scaler.hpp"

extern "C" {
#include <libavutil/opt.h>
}

namespace lensd {

AVPixelFormat av_format(PixelFormat format) {
  return format == PixelFormat::gray8 ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_RGBA;
}

void Scaler::open(const ImageFormat& from, AVPixelFormat to, int matrix, bool full_range) {
  context_.reset(ff::allocated(sws_alloc_context()));
  SwsContext* c = context_.get();
  av_opt_set_int(c, "srcw", from.extent.width, 0);
  av_opt_set_int(c, "srch", from.extent.height, 0);
  av_opt_set_int(c, "dstw", from.extent.width, 0);
  av_opt_set_int(c, "dsth", from.extent.height, 0);
  av_opt_set_int(c, "src_format", av_format(from.format), 0);
  av_opt_set_int(c, "dst_format", to, 0);
  av_opt_set_int(c, "sws_flags", SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP | SWS_BITEXACT, 0);
  // Chroma as the files are tagged: sited left, between the rows.
  av_opt_set_int(c, "dst_h_chr_pos", 0, 0);
  av_opt_set_int(c, "dst_v_chr_pos", 128, 0);
  if (sws_init_context(c, nullptr, nullptr) < 0)
    throw Error(ExitCode::runtime_failure, "recorder",
                "swscale cannot convert to this encoder's pixel format");
  sws_setColorspaceDetails(c, sws_getCoefficients(SWS_CS_DEFAULT), 1, sws_getCoefficients(matrix), full_range,
                           0, 1 << 16, 1 << 16);
}

void Scaler::convert(ConstImageRef image, AVFrame& to) const {
  const uint8_t* planes[4] = {image.data};
  const int pitches[4] = {static_cast<int>(image.pitch_bytes)};
  sws_scale(context_.get(), planes, pitches, 0, image.height(), to.data, to.linesize);
}

}  // namespace lensd
