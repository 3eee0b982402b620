#pragma once

#include <cmath>
#include <cstdint>

#include "core/image/picture.hpp"
#include "kernels/colour/display_light.hpp"
#include "kernels/colour/matrix_weights.hpp"

namespace lensd {

struct ColourParams {};

struct ColourBlock {
  static ColourBlock make(const ColourParams&) { return {}; }
};

/// Conversion in fixed point: coefficients in 1/8192, samples in sixteenths (the bilinear weights sum to 16).
/// colour_clamp() reduces sums to results. Sums fit in 32 bits up to a depth of 12.
struct ColourMatrix {
  int32_t luma = 0;  ///< luma coefficient; also for grey and for R, G and B of RGB pictures
  int32_t rv = 0, gu = 0, gv = 0, bu = 0;
  int32_t black = 0, middle = 0;  ///< sample values of black and of zero chroma
  int32_t alpha = 0;
  int32_t shift = 0;
  int32_t most = 0;         ///< largest result
  int32_t sample_mask = 0;  ///< mask of the significant bits

  /// Returns the matrix for results with `bits` bits, 8 to 12.
  static ColourMatrix make(const PictureInfo& info, int bits = 8) {
    const int depth = info.format.depth, extra = depth - 8;
    const double most = std::ldexp(1.0, bits) - 1, unit = std::ldexp(1.0, bits - 8);
    const double step = std::ldexp(1.0, extra), full = most / unit * step / (std::ldexp(1.0, depth) - 1);
    const bool limited = info.colour.range == Range::limited;
    const double luma = limited ? most / unit / 219 : full, chroma = limited ? most / unit / 224 : full;
    const auto weights = MatrixWeights::of(info.colour.matrix);
    const auto fixed = [](double v) { return static_cast<int32_t>(std::lround(v * 8192)); };
    ColourMatrix m;
    m.luma = fixed(luma), m.alpha = fixed(full);
    m.rv = fixed(chroma * weights.rv), m.bu = fixed(chroma * weights.bu);
    m.gu = fixed(chroma * weights.gu), m.gv = fixed(chroma * weights.gv);
    m.black = limited ? 16 << extra : 0, m.middle = 128 << extra;
    m.shift = 13 + 4 + extra - (bits - 8), m.most = static_cast<int32_t>(most);
    m.sample_mask = (1 << depth) - 1;
    return m;
  }
};

/// Returns the result of a sum: sum / 2^shift, rounded to nearest and clamped to 0 … `most`. `T`: int32_t up
/// to a depth of 12, else int64_t.
template <class T>
LENSD_HD constexpr uint32_t colour_clamp(const ColourMatrix& m, T sum) {
  // GCC compiles two separate conditional expressions to a minimum and a maximum, but nested ones to nine
  // mask instructions.
  const T v = (sum + (T{1} << (m.shift - 1))) >> m.shift, most = m.most;
  const T limited = v < most ? v : most;
  return static_cast<uint32_t>(limited > 0 ? limited : 0);
}

template <class T>
LENSD_HD constexpr uint32_t colour_of_plain(const ColourMatrix& m, int sample) {
  return colour_clamp<T>(m, T{m.luma} * (16 * (sample - m.black)));
}

template <class T>
LENSD_HD constexpr uint32_t colour_of_alpha(const ColourMatrix& m, int sample) {
  return colour_clamp<T>(m, T{m.alpha} * (16 * sample));
}

/// Returns R | G << 8 | B << 16 for a luma sample and chroma in sixteenths.
template <class T>
LENSD_HD constexpr uint32_t colour_of_yuv(const ColourMatrix& m, int y, int u16, int v16) {
  const T base = T{m.luma} * (16 * (y - m.black));
  const T u = u16 - 16 * m.middle, v = v16 - 16 * m.middle;
  return colour_clamp<T>(m, base + m.rv * v) | colour_clamp<T>(m, base - m.gu * u - m.gv * v) << 8 |
         colour_clamp<T>(m, base + m.bu * u) << 16;
}

/// Returns the display colours R | G << 8 | B << 16. `codes`: a matrix for DisplayLight::kCodeBits bits.
template <class T>
LENSD_HD constexpr uint32_t display_of_yuv(const ColourMatrix& codes, const DisplayLight& light, int y,
                                           int u16, int v16) {
  const T base = T{codes.luma} * (16 * (y - codes.black));
  const T u = u16 - 16 * codes.middle, v = v16 - 16 * codes.middle;
  return light.pixel(colour_clamp<T>(codes, base + codes.rv * v),
                     colour_clamp<T>(codes, base - codes.gu * u - codes.gv * v),
                     colour_clamp<T>(codes, base + codes.bu * u));
}

/// Computes display_of_yuv() for the samples of an RGB picture.
template <class T>
LENSD_HD constexpr uint32_t display_of_rgb(const ColourMatrix& codes, const DisplayLight& light, int red,
                                           int green, int blue) {
  return light.pixel(colour_of_plain<T>(codes, red), colour_of_plain<T>(codes, green),
                     colour_of_plain<T>(codes, blue));
}

/// Two chroma samples next to a luma position along one axis, with weights in quarters.
struct ChromaTap {
  int first, second;
  int first_weight, second_weight;
};

/// Returns the indices and weights of the two chroma samples for a luma position. `n`: number of chroma
/// samples. Border rule: replicate.
LENSD_HD constexpr ChromaTap chroma_tap(int position, int shift, bool cosited, int n) {
  if (shift == 0) return {position, position, 4, 0};
  const int c = position >> 1;
  const bool odd = (position & 1) != 0;
  const int before = c > 0 ? c - 1 : 0, after = c + 1 < n ? c + 1 : n - 1;
  if (cosited) return odd ? ChromaTap{c, after, 2, 2} : ChromaTap{c, c, 4, 0};
  return odd ? ChromaTap{c, after, 3, 1} : ChromaTap{before, c, 1, 3};
}

inline bool cosited_x(const PictureInfo& info) {
  return info.colour.siting != ChromaSiting::center;
}
inline bool cosited_y(const PictureInfo& info) {
  return info.colour.siting == ChromaSiting::top_left;
}

/// Returns the number of chroma samples along one axis.
constexpr int chroma_size(int luma_size, int shift) {
  return (luma_size + (1 << shift) - 1) >> shift;
}

/// Returns the chroma rows and weights for luma row `y`. If PictureInfo::has_field_chroma(), both rows are in
/// the field of `y`, and the field is treated like a progressive picture. H.262 places the field's chroma
/// samples a quarter of a row higher or lower; this shift is ignored.
inline ChromaTap chroma_rows(const PictureInfo& info, int y) {
  const int shift = info.format.chroma_shift_y, rows = chroma_size(info.extent.height, shift);
  if (!info.has_field_chroma()) return chroma_tap(y, shift, cosited_y(info), rows);
  ChromaTap tap = chroma_tap(y / 2, shift, cosited_y(info), rows / 2);
  tap.first = 2 * tap.first + y % 2, tap.second = 2 * tap.second + y % 2;
  return tap;
}

struct Position {
  int x, y;
};
/// Returns the position of stored pixel (x, y) in the upright picture, whose size is `upright`.
LENSD_HD constexpr Position upright_position(const Orientation& turn, Extent upright, int x, int y) {
  Position p = turn.transpose ? Position{y, x} : Position{x, y};
  if (turn.flip_x) p.x = upright.width - 1 - p.x;
  if (turn.flip_y) p.y = upright.height - 1 - p.y;
  return p;
}

/// Returns one sample of a component.
LENSD_HD inline int load_sample(const uint8_t* row, const ComponentLayout& layout, int x, bool two_bytes,
                                int mask) {
  const uint8_t* p = row + static_cast<std::ptrdiff_t>(x) * layout.step + layout.offset;
  return two_bytes ? ((p[0] | p[1] << 8) >> layout.shift) & mask : p[0];
}

}  // namespace lensd
