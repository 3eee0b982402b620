#include "core/media/ffmpeg/deep_converter.hpp"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/image/dither.hpp"
#include "core/image/luma_coefficients.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"

namespace lensd {
namespace {

constexpr int kBlock = 8;  // columns of the dither matrix
constexpr size_t kU = 0, kV = 1;

size_t padded(int width) {
  return (static_cast<size_t>(width) + kBlock - 1) / kBlock * kBlock;
}

/// The values that are added to eight neighbouring samples before they are rounded down.
struct Thresholds {
  float value[kBlock];

  Thresholds(bool dither, int y) {
    for (int x = 0; x < kBlock; ++x) value[x] = dither ? dither_threshold(x, y) : 0.5f;
  }
};

/// Rounds values to samples, in whole blocks of kBlock. `from` and `out` must have room for whole blocks.
template <class Word>
void round_row(const float* from, int count, float factor, float offset, float most, const Thresholds& t,
               Word* out) {
  for (int x = 0; x < count; x += kBlock)
    for (int i = 0; i < kBlock; ++i) {
      const float v = from[x + i] * factor + offset + t.value[i];
      out[x + i] = static_cast<Word>(static_cast<int>(v < 0.f ? 0.f : v > most ? most : v));
    }
}

/// Writes the samples of one component to a row of pixels.
template <class Word>
void place_row(const Word* samples, int count, ComponentLayout layout, uint8_t* row) {
  row += layout.offset;
  if (layout.step == sizeof(Word) && layout.shift == 0) {
    std::memcpy(row, samples, static_cast<size_t>(count) * sizeof(Word));
    return;
  }
  for (int x = 0; x < count; ++x) {
    const auto word = static_cast<Word>(samples[x] << layout.shift);
    std::memcpy(row + static_cast<std::ptrdiff_t>(x) * layout.step, &word, sizeof word);
  }
}

/// Halves the width of a row. Sited left: each result is the mean of an even column and its two neighbours,
/// with the weights 2, 1 and 1. Centred: the mean of two columns. Border rule: replicate.
void halve_row(const float* from, int width, bool centred, float* out) {
  const int count = (width + 1) / 2;
  if (centred) {
    for (int i = 0; i < count; ++i) out[i] = 0.5f * (from[2 * i] + from[std::min(2 * i + 1, width - 1)]);
    return;
  }
  for (int i = 1; i + 1 < count; ++i)
    out[i] = 0.25f * (from[2 * i - 1] + from[2 * i + 1]) + 0.5f * from[2 * i];
  for (const int i : {0, count - 1}) {
    const float before = from[std::max(2 * i - 1, 0)], after = from[std::min(2 * i + 1, width - 1)];
    out[i] = 0.25f * (before + after) + 0.5f * from[2 * i];
  }
}

}  // namespace

bool DeepConverter::supports(const PixelsFormat& from, const PixelsFormat& to) {
  return (from.format == AV_PIX_FMT_RGBA64 || from.format == AV_PIX_FMT_GRAY16) && from.full_range &&
         from.extent == to.extent && picture_format(to.format).has_value();
}

void DeepConverter::open(const PixelsFormat& from, const PixelsFormat& to, bool dither) {
  gray_ = is_gray(from.format), extent_ = from.extent, format_ = *picture_format(to.format);
  dither_ = dither && format_.depth == 8;
  centred_ = to.siting == ChromaSiting::center;
  const auto [kr, kb] = LumaCoefficients::of(to.matrix);
  kr_ = static_cast<float>(kr), kb_ = static_cast<float>(kb), kg_ = static_cast<float>(1 - kr - kb);
  to_u_ = static_cast<float>(0.5 / (1 - kb)), to_v_ = static_cast<float>(0.5 / (1 - kr));

  const double unit = std::ldexp(1.0, format_.depth - 8), most = std::ldexp(1.0, format_.depth) - 1;
  const bool yuv = format_.model == ColourModel::yuv, limited = yuv && !to.full_range;
  const auto scale = [](double most_sample, double offset) {
    return Scale{static_cast<float>(most_sample / 65535), static_cast<float>(offset)};
  };
  most_ = static_cast<float>(most);
  scales_.fill(scale(most, 0));
  if (limited) scales_[0] = scale(219 * unit, 16 * unit);
  if (yuv) scales_[1] = scales_[2] = scale(limited ? 224 * unit : most, 128 * unit);

  // Packed formats without alpha may have unused bytes, for example BGR0, or YUYV with an odd width.
  fill_ = format_.plane_count == 1 && !format_.has_alpha && format_.model != ColourModel::gray;

  const size_t room = padded(extent_.width);
  for (Row* row : {&channels_[0], &channels_[1], &channels_[2], &channels_[3], &luma_, &chroma_[kU],
                   &chroma_[kV], &narrow_})
    row->assign(room, 0);
  packed_.assign(room * sizeof(uint16_t), 0);
}

void DeepConverter::write(const Row& values, int count, int component, int y, AVFrame& to) {
  const ComponentLayout layout = format_.components[static_cast<size_t>(component)];
  const Scale scale = scales_[static_cast<size_t>(component)];
  const Thresholds thresholds(dither_, y);
  uint8_t* row = to.data[layout.plane] + std::ptrdiff_t{y} * to.linesize[layout.plane];
  const auto write_words = [&](auto* samples) {
    round_row(values.data(), count, scale.factor, scale.offset, most_, thresholds, samples);
    place_row(samples, count, layout, row);
  };
  if (format_.depth > 8)
    write_words(reinterpret_cast<uint16_t*>(packed_.data()));
  else
    write_words(packed_.data());
}

void DeepConverter::convert_chroma(int y, AVFrame& to) {
  const bool halved_x = format_.chroma_shift_x == 1, halved_y = format_.chroma_shift_y == 1;
  const int width = extent_.width, count = halved_x ? (width + 1) / 2 : width;
  const bool lower = halved_y && y % 2 == 1, last = y + 1 == extent_.height;
  const float* const colours[] = {channels_[2].data(), channels_[0].data()};
  const float factors[] = {to_u_, to_v_};
  for (const size_t c : {kU, kV}) {
    Row& full = channels_[1];  // green is no longer needed
    for (int x = 0; x < width; ++x)
      full[static_cast<size_t>(x)] = factors[c] * (colours[c][x] - luma_[static_cast<size_t>(x)]);
    if (halved_x) halve_row(full.data(), width, centred_, narrow_.data());
    const float* row = halved_x ? narrow_.data() : full.data();
    float* kept = chroma_[c].data();
    if (lower)
      for (int x = 0; x < count; ++x) kept[x] = 0.5f * (kept[x] + row[x]);
    else
      std::copy_n(row, count, kept);
    if (!halved_y || lower || last)
      write(chroma_[c], count, static_cast<int>(c) + 1, halved_y ? y / 2 : y, to);
  }
}

void DeepConverter::convert_row(const uint16_t* from, int y, AVFrame& to) {
  const int width = extent_.width;
  const size_t step = gray_ ? 1 : 4;
  if (fill_) {
    const int bytes = av_image_get_linesize(static_cast<AVPixelFormat>(to.format), width, 0);
    std::memset(to.data[0] + std::ptrdiff_t{y} * to.linesize[0], 0xff, static_cast<size_t>(bytes));
  }
  for (size_t c = 0; c < 4; ++c) {
    const size_t channel = gray_ ? 0 : c;
    if (gray_ && c == 3)
      std::fill_n(channels_[c].begin(), width, 65535.f);
    else
      for (size_t x = 0; x < static_cast<size_t>(width); ++x) channels_[c][x] = from[x * step + channel];
  }
  const auto& [r, g, b, a] = channels_;
  if (format_.model == ColourModel::rgb) {
    for (int c = 0; c < 3; ++c) write(channels_[static_cast<size_t>(c)], width, c, y, to);
  } else {
    for (size_t x = 0; x < static_cast<size_t>(width); ++x)
      luma_[x] = gray_ ? r[x] : kr_ * r[x] + kg_ * g[x] + kb_ * b[x];
    write(luma_, width, 0, y, to);
    if (format_.model == ColourModel::yuv) convert_chroma(y, to);
  }
  if (format_.has_alpha) write(a, width, 3, y, to);
}

void DeepConverter::convert(const Pixels& from, AVFrame& to) {
  for (int y = 0; y < extent_.height; ++y)
    convert_row(reinterpret_cast<const uint16_t*>(from.planes[0] + std::ptrdiff_t{y} * from.pitches[0]), y,
                to);
}

}  // namespace lensd
