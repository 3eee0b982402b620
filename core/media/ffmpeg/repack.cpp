#include "core/media/ffmpeg/repack.hpp"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <cstring>
#include <type_traits>

#include "core/media/ffmpeg/pixel_formats.hpp"

namespace lensd {
namespace {

/// Copies whole blocks of samples to a row whose samples have no gaps. `Group` has the size of a.step.
/// Returns the number of samples that are copied.
template <class Group, class Word>
int copy_blocks(const uint8_t* from, ComponentLayout a, uint8_t* to, ComponentLayout b, int count) {
  constexpr int kBlock = 32;  // with -O2, GCC vectorises only loops of known length
  int x = 0;
  to += b.offset;
  for (; x + kBlock <= count; x += kBlock, from += kBlock * sizeof(Group), to += kBlock * sizeof(Word)) {
    Group groups[kBlock];
    Word samples[kBlock];
    std::memcpy(groups, from, sizeof groups);
    for (int i = 0; i < kBlock; ++i)
      samples[i] = static_cast<Word>(static_cast<Word>(groups[i] >> 8 * a.offset) >> a.shift << b.shift);
    std::memcpy(to, samples, sizeof samples);
  }
  return x;
}

template <class Word>
void copy_samples(const uint8_t* from, ComponentLayout a, uint8_t* to, ComponentLayout b, int count) {
  from += a.offset, to += b.offset;
  for (int x = 0; x < count; ++x, from += a.step, to += b.step) {
    Word sample;
    std::memcpy(&sample, from, sizeof sample);
    sample = static_cast<Word>((sample >> a.shift) << b.shift);
    std::memcpy(to, &sample, sizeof sample);
  }
}

template <class Word>
void copy_row(const uint8_t* from, ComponentLayout a, uint8_t* to, ComponentLayout b, int count) {
  using Two = std::conditional_t<sizeof(Word) == 1, uint16_t, uint32_t>;
  using Four = std::conditional_t<sizeof(Word) == 1, uint32_t, uint64_t>;
  if (a.step == sizeof(Word) && a.step == b.step && a.shift == b.shift) {
    std::memcpy(to + b.offset, from + a.offset, static_cast<size_t>(count) * sizeof(Word));
    return;
  }
  int done = 0;
  if (b.step == sizeof(Word) && a.offset < a.step) {
    if (a.step == sizeof(Word)) done = copy_blocks<Word, Word>(from, a, to, b, count);
    if (a.step == sizeof(Two)) done = copy_blocks<Two, Word>(from, a, to, b, count);
    if (a.step == sizeof(Four)) done = copy_blocks<Four, Word>(from, a, to, b, count);
  }
  copy_samples<Word>(from + std::ptrdiff_t{done} * a.step, a, to + std::ptrdiff_t{done} * b.step, b,
                     count - done);
}

/// Sets all bytes of a picture in one plane. Packed formats may have unused bytes: X of VUYX, or the last Y
/// of YUYV with an odd width.
void fill(AVFrame& picture, Extent extent) {
  const int bytes = av_image_get_linesize(static_cast<AVPixelFormat>(picture.format), extent.width, 0);
  for (int y = 0; y < extent.height; ++y)
    std::memset(picture.data[0] + std::ptrdiff_t{y} * picture.linesize[0], 0xff, static_cast<size_t>(bytes));
}

}  // namespace

std::optional<Repack> Repack::of(const PixelsFormat& from, const PixelsFormat& to) {
  const auto a = picture_format(from.format), b = picture_format(to.format);
  if (!a || !b || a->model != ColourModel::yuv || b->model != ColourModel::yuv) return std::nullopt;
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
  if (from_ == to_) {
    Pixels source = from;  // av_image_copy() takes no pointer to const
    return av_image_copy(to.data, to.linesize, source.planes, source.pitches,
                         static_cast<AVPixelFormat>(to.format), extent_.width, extent_.height);
  }
  if (to_.plane_count == 1 && !to_.has_alpha) fill(to, extent_);
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
