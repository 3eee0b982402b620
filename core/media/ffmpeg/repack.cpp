#include "core/media/ffmpeg/repack.hpp"

#include <cstring>

#include "core/media/ffmpeg/pixel_formats.hpp"

namespace lensd {
namespace {

template <class Word>
void copy_row(const uint8_t* from, ComponentLayout a, uint8_t* to, ComponentLayout b, int count) {
  from += a.offset, to += b.offset;
  for (int x = 0; x < count; ++x, from += a.step, to += b.step) {
    Word sample;
    std::memcpy(&sample, from, sizeof sample);
    sample = static_cast<Word>((sample >> a.shift) << b.shift);
    std::memcpy(to, &sample, sizeof sample);
  }
}

}  // namespace

std::optional<Repack> Repack::of(const PixelsFormat& from, const PixelsFormat& to) {
  const auto a = picture_format(from.format), b = picture_format(to.format);
  if (!a || !b || a == b || a->model != ColourModel::yuv || b->model != ColourModel::yuv) return std::nullopt;
  const bool same_samples = a->depth == b->depth && a->chroma_shift_x == b->chroma_shift_x &&
                            a->chroma_shift_y == b->chroma_shift_y && (a->has_alpha || !b->has_alpha);
  const bool same_colours =
      from.matrix == to.matrix && from.full_range == to.full_range && from.siting == to.siting;
  if (!same_samples || !same_colours || from.extent != to.extent) return std::nullopt;
  Repack out;
  out.from_ = *a, out.to_ = *b, out.extent_ = from.extent;
  return out;
}

void Repack::convert(const Pixels& from, AVFrame& to) const {
  for (size_t c = 0; c < (to_.has_alpha ? 4u : 3u); ++c) {
    const ComponentLayout a = from_.components[c], b = to_.components[c];
    const bool chroma = c == 1 || c == 2;
    const int shift_x = chroma ? to_.chroma_shift_x : 0, shift_y = chroma ? to_.chroma_shift_y : 0;
    const int width = (extent_.width + (1 << shift_x) - 1) >> shift_x;
    const int height = (extent_.height + (1 << shift_y) - 1) >> shift_y;
    for (int y = 0; y < height; ++y) {
      const uint8_t* const source = from.planes[a.plane] + std::ptrdiff_t{y} * from.pitches[a.plane];
      uint8_t* const target = to.data[b.plane] + std::ptrdiff_t{y} * to.linesize[b.plane];
      if (to_.depth > 8)
        copy_row<uint16_t>(source, a, target, b, width);
      else
        copy_row<uint8_t>(source, a, target, b, width);
    }
  }
}

}  // namespace lensd
