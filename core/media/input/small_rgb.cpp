#include "core/media/input/small_rgb.hpp"

#include <array>
#include <cstring>

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace lensd {
namespace {

constexpr uint64_t kOtherLayouts = AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL |
                                   AV_PIX_FMT_FLAG_PLANAR | AV_PIX_FMT_FLAG_ALPHA | AV_PIX_FMT_FLAG_BAYER |
                                   AV_PIX_FMT_FLAG_FLOAT;

uint8_t with_8_bits(unsigned value, int depth) {
  const unsigned largest = (1u << depth) - 1;
  return static_cast<uint8_t>((value * 255 + largest / 2) / largest);
}

/// Returns FFmpeg's descriptor, corrected for RGB8. FFmpeg's has 2 bits of red and 3 of blue. Cameras,
/// libswscale and the documentation of AV_PIX_FMT_RGB8 have 3 bits of red in the highest bits, 3 of green, 2
/// of blue.
AVPixFmtDescriptor descriptor_of(AVPixelFormat format) {
  AVPixFmtDescriptor d = *av_pix_fmt_desc_get(format);
  if (format == AV_PIX_FMT_RGB8) {
    d.comp[0].shift = 5, d.comp[0].depth = 3;
    d.comp[1].shift = 2, d.comp[1].depth = 3;
    d.comp[2].shift = 0, d.comp[2].depth = 2;
  }
  return d;
}

/// Word: uint8_t or uint16_t, the stored value of one pixel.
template <typename Word>
void convert_rows(const std::vector<uint32_t>& rgba, const AVFrame& from, AVFrame& to) {
  for (int y = 0; y < from.height; ++y) {
    const uint8_t* in = from.data[0] + ptrdiff_t{y} * from.linesize[0];
    uint8_t* out = to.data[0] + ptrdiff_t{y} * to.linesize[0];
    for (int x = 0; x < from.width; ++x) {
      Word stored;
      std::memcpy(&stored, in + static_cast<size_t>(x) * sizeof stored, sizeof stored);
      std::memcpy(out + static_cast<size_t>(x) * 4, &rgba[stored], 4);
    }
  }
}

}  // namespace

bool SmallRgb::reads(AVPixelFormat format) {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(format);
  if (!d || d->nb_components != 3 || !(d->flags & AV_PIX_FMT_FLAG_RGB) || (d->flags & kOtherLayouts))
    return false;
  for (int i = 0; i < 3; ++i)
    if (d->comp[i].depth >= 8 || d->comp[i].step > 2) return false;
  return true;
}

void SmallRgb::make_table(AVPixelFormat format) {
  const AVPixFmtDescriptor d = descriptor_of(format);
  const size_t bytes = static_cast<size_t>(d.comp[0].step);
  const int values = 1 << (8 * bytes);
  rgba_.resize(static_cast<size_t>(values));
  // av_read_image_line2() may read past the pixel, so `pixel` has more bytes than a pixel needs.
  std::array<uint8_t, 4> pixel{};
  const uint8_t* const planes[4] = {pixel.data()};
  const int pitches[4] = {static_cast<int>(bytes)};
  for (int value = 0; value < values; ++value) {
    std::memcpy(pixel.data(), &value, bytes);
    std::array<uint8_t, 4> out = {0, 0, 0, 255};
    for (int i = 0; i < 3; ++i) {
      uint16_t component = 0;
      av_read_image_line2(&component, const_cast<const uint8_t**>(planes), pitches, &d, 0, 0, i, 1, 0, 2);
      out[static_cast<size_t>(i)] = with_8_bits(component, d.comp[i].depth);
    }
    std::memcpy(&rgba_[static_cast<size_t>(value)], out.data(), 4);
  }
  format_ = format;
}

void SmallRgb::convert(const AVFrame& from, AVFrame& to) {
  const auto format = static_cast<AVPixelFormat>(from.format);
  if (format_ != format) make_table(format);
  if (rgba_.size() == 256)
    convert_rows<uint8_t>(rgba_, from, to);
  else
    convert_rows<uint16_t>(rgba_, from, to);
}

}  // namespace lensd
