#include "kernels/colour/colour_simd.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/colour/colour_general.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

// Plain loops, which the compiler vectorises for each target.
HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {

template <class Word, int kStep>
HWY_INLINE void gather_step(const uint8_t* from, int shift, int mask, int count, int32_t* HWY_RESTRICT out) {
  for (int x = 0; x < count; ++x) {
    Word sample;
    std::memcpy(&sample, from + x * kStep, sizeof sample);
    out[x] = (sample >> shift) & mask;
  }
}

/// Calls gather_step() with `step` as a compile-time constant if it is one of `kSteps`, so that the compiler
/// can vectorise the loop.
template <class Word, int... kSteps>
HWY_INLINE void gather_words(const uint8_t* from, int step, int shift, int mask, int count, int32_t* out) {
  const bool done =
      ((step == kSteps && (gather_step<Word, kSteps>(from, shift, mask, count, out), true)) || ...);
  for (int x = 0; !done && x < count; ++x) gather_step<Word, 1>(from + x * step, shift, mask, 1, out + x);
}

/// Unpacks one component of a row to 32-bit samples.
void gather(const uint8_t* row, ComponentLayout layout, bool two_bytes, int mask, int count, int32_t* out) {
  const uint8_t* from = row + layout.offset;
  if (two_bytes)
    gather_words<uint16_t, 1, 2, 3, 4, 6, 8>(from, layout.step, layout.shift, mask, count, out);
  else
    gather_words<uint8_t, 1, 2, 3, 4, 6, 8>(from, layout.step, 0, mask, count, out);
}

/// Computes out = wa · a + wb · b.
void blend(const int32_t* a, const int32_t* b, int wa, int wb, int count, int32_t* out) {
  for (int x = 0; x < count; ++x) out[x] = wa * a[x] + wb * b[x];
}

/// Interpolates chroma at every luma column. `chroma` has `count` samples that are already blended
/// vertically, in quarters; `out` is in sixteenths.
void widen(const int32_t* chroma, int width, bool cosited, int count, int32_t* out) {
  const auto at = [&](int x) {
    const ChromaTap tap = chroma_tap(x, 1, cosited, count);
    return tap.first_weight * chroma[tap.first] + tap.second_weight * chroma[tap.second];
  };
  // Border columns repeat a neighbour; the columns between them follow a regular pattern.
  const int pairs = width / 2 - 1;
  const int even_before = cosited ? 0 : 1, even_here = 4 - even_before, odd_after = cosited ? 2 : 1,
            odd_here = 4 - odd_after;
  for (int x = 0; x < (pairs > 0 ? 2 : width); ++x) out[x] = at(x);
  for (int c = 1; c < pairs; ++c) {
    out[2 * c] = even_before * chroma[c - 1] + even_here * chroma[c];
    out[2 * c + 1] = odd_here * chroma[c] + odd_after * chroma[c + 1];
  }
  if (pairs > 0)
    for (int x = 2 * pairs; x < width; ++x) out[x] = at(x);
}

template <class T, bool kYuv>
void convert_pixels(const ColourMatrix m, const int32_t* a, const int32_t* b, const int32_t* c, int width,
                    uint32_t* out) {
  for (int x = 0; x < width; ++x) {
    const uint32_t colours = kYuv ? colour_of_yuv<T>(m, a[x], b[x], c[x])
                                  : colour_of_plain<T>(m, a[x]) | colour_of_plain<T>(m, b[x]) << 8 |
                                        colour_of_plain<T>(m, c[x]) << 16;
    out[x] = colours | 0xff000000u;
  }
}

void matrix_row(const ColourMatrix& m, ColourModel model, bool wide, const int32_t* const* planes, int width,
                uint32_t* out) {
  const auto convert = model == ColourModel::yuv
                           ? wide ? convert_pixels<int64_t, true> : convert_pixels<int32_t, true>
                       : wide ? convert_pixels<int64_t, false>
                              : convert_pixels<int32_t, false>;
  convert(m, planes[0], planes[1], planes[2], width, out);
}

/// Replaces the samples of a row with R, G and B codes.
template <class T, bool kYuv>
void convert_codes(const ColourMatrix codes, int32_t* HWY_RESTRICT a, int32_t* HWY_RESTRICT b,
                   int32_t* HWY_RESTRICT c, int width) {
  for (int x = 0; x < width; ++x) {
    if (kYuv) {
      const T base = T{codes.luma} * (16 * (a[x] - codes.black));
      const T u = b[x] - 16 * codes.middle, v = c[x] - 16 * codes.middle;
      a[x] = static_cast<int32_t>(colour_clamp<T>(codes, base + codes.rv * v));
      b[x] = static_cast<int32_t>(colour_clamp<T>(codes, base - codes.gu * u - codes.gv * v));
      c[x] = static_cast<int32_t>(colour_clamp<T>(codes, base + codes.bu * u));
    } else {
      a[x] = static_cast<int32_t>(colour_of_plain<T>(codes, a[x]));
      b[x] = static_cast<int32_t>(colour_of_plain<T>(codes, b[x]));
      c[x] = static_cast<int32_t>(colour_of_plain<T>(codes, c[x]));
    }
  }
}

void code_row(const ColourMatrix& codes, ColourModel model, bool wide, int32_t* const* planes, int width) {
  const auto convert = model == ColourModel::yuv
                           ? wide ? convert_codes<int64_t, true> : convert_codes<int32_t, true>
                       : wide ? convert_codes<int64_t, false>
                              : convert_codes<int32_t, false>;
  convert(codes, planes[0], planes[1], planes[2], width);
}

void alpha_row(const ColourMatrix& m, const int32_t* alpha, int width, uint32_t* pixels) {
  for (int x = 0; x < width; ++x)
    pixels[x] = (pixels[x] & 0xffffffu) | colour_of_alpha<int64_t>(m, alpha[x]) << 24;
}

void gray_row(const ColourMatrix& m, const int32_t* luma, int width, uint8_t* out) {
  for (int x = 0; x < width; ++x) out[x] = static_cast<uint8_t>(colour_of_plain<int64_t>(m, luma[x]));
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(gather);
HWY_EXPORT(blend);
HWY_EXPORT(widen);
HWY_EXPORT(matrix_row);
HWY_EXPORT(code_row);
HWY_EXPORT(alpha_row);
HWY_EXPORT(gray_row);

namespace {

constexpr int kRowBuffers = 6;
size_t buffer_samples(int width) {
  return (static_cast<size_t>(width) + 15) / 16 * 16 + kLightPadding;
}

}  // namespace

size_t colour_worker_bytes(int width) {
  // colour_row_general() needs the row buffers; the constant covers colour_row_halved() on narrow pictures.
  return kRowBuffers * buffer_samples(width) * sizeof(int32_t) + 2048;
}

int32_t* row_buffer(uint8_t* worker, int width, int i) {
  return reinterpret_cast<int32_t*>(worker) + static_cast<size_t>(i) * buffer_samples(width);
}

ComponentRows component_rows(const PictureRef& picture, int sample_mask, int y, uint8_t* worker) {
  const PictureInfo& info = picture.info;
  const PictureFormat& f = info.format;
  const int width = info.extent.width;
  const auto buffer = [&](int i) { return row_buffer(worker, width, i); };
  const auto load = [&](int component, int row, int count, int32_t* to) {
    const ComponentLayout layout = f.components[static_cast<size_t>(component)];
    const uint8_t* from = picture.planes[layout.plane] + row * picture.pitch_bytes[layout.plane];
    HWY_DYNAMIC_DISPATCH(gather)(from, layout, f.depth > 8, sample_mask, count, to);
  };
  ComponentRows rows{{buffer(0), buffer(1), buffer(2)}, nullptr, buffer(3)};
  load(0, y, width, buffer(0));
  if (f.model == ColourModel::gray) return rows;

  for (int c = 1; c < 3; ++c) {
    if (f.model == ColourModel::rgb) {
      load(c, y, width, buffer(c));
      continue;
    }
    const int count = chroma_size(width, f.chroma_shift_x);
    const ChromaTap tap = chroma_rows(info, y);
    load(c, tap.first, count, buffer(3)), load(c, tap.second, count, buffer(4));
    const bool halved = f.chroma_shift_x == 1;
    const int factor = halved ? 1 : 4;  // converts quarters to sixteenths, unless widen() does that
    int32_t* blended = halved ? buffer(5) : buffer(c);
    HWY_DYNAMIC_DISPATCH(blend)
    (buffer(3), buffer(4), factor * tap.first_weight, factor * tap.second_weight, count, blended);
    if (halved) HWY_DYNAMIC_DISPATCH(widen)(blended, width, cosited_x(info), count, buffer(c));
  }
  if (f.has_alpha) load(3, y, width, rows.alpha = buffer(4));
  return rows;
}

void colour_row_general(const PictureRef& picture, const ColourConversion& conversion, int y, uint8_t* out,
                        uint8_t* worker) {
  const ColourMatrix& m = conversion.matrix;
  const PictureFormat& f = picture.info.format;
  const int width = picture.info.extent.width;
  const bool wide = f.depth > 12;
  const ComponentRows rows = component_rows(picture, m.sample_mask, y, worker);
  if (f.model == ColourModel::gray) return HWY_DYNAMIC_DISPATCH(gray_row)(m, rows.planes[0], width, out);

  auto* pixels = reinterpret_cast<uint32_t*>(rows.free);
  if (conversion.light) {
    HWY_DYNAMIC_DISPATCH(code_row)(conversion.codes, f.model, wide, rows.planes, width);
    light_row(*conversion.light, rows.planes, width, pixels);
  } else {
    HWY_DYNAMIC_DISPATCH(matrix_row)(m, f.model, wide, rows.planes, width, pixels);
  }
  if (rows.alpha) HWY_DYNAMIC_DISPATCH(alpha_row)(m, rows.alpha, width, pixels);
  std::memcpy(out, pixels, 4 * static_cast<size_t>(width));
}

void colour_row(const PictureRef& picture, const ColourConversion& conversion, int y, uint8_t* out,
                uint8_t* worker) {
  if (!conversion.light && is_halved(picture.info.format))
    return colour_row_halved(picture, conversion.matrix, y, out, worker);
  colour_row_general(picture, conversion, y, out, worker);
}

}  // namespace lensd
#endif
