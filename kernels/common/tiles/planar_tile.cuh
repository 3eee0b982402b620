// Tiles of images in shared memory with their border, one plane of bytes for each colour channel, so that a
// neighbourhood filter needs no separate code for Gray8 and RGBA8. Four pixels of a plane are one word.
#pragma once

#include "kernels/common/border/border.hpp"
#include "kernels/common/launch.cuh"

namespace lensd {

/// Number of colour planes of an image with `C` bytes per pixel.
template <int C>
inline constexpr int kColours = C == 4 ? 3 : 1;

/// An image for device code. `aligned`: rows start at multiples of 4 (grey) or 16 (RGBA) bytes.
struct TileSource {
  const uint8_t* data;
  std::ptrdiff_t pitch_bytes;
  Extent extent;
  bool aligned;

  explicit TileSource(const ConstImageRef& image)
      : data(image.data),
        pitch_bytes(image.pitch_bytes),
        extent(image.format.extent),
        aligned(rows_aligned(image, image.channels() == 4 ? 16 : 4)) {}
  __device__ const uint8_t* row(int y) const { return data + static_cast<std::ptrdiff_t>(y) * pitch_bytes; }
};

/// Returns byte `c` of each of four words: one channel of four RGBA pixels.
__device__ inline uint32_t channel_of(const uint32_t (&pixels)[4], int c) {
  const auto pick = static_cast<uint32_t>(c | (c + 4) << 4);
  return __byte_perm(__byte_perm(pixels[0], pixels[1], pick), __byte_perm(pixels[2], pixels[3], pick),
                     0x5410);
}

/// Loads pixels x … x+3 of row y by the border rule, as one word for each colour plane.
template <int C>
__device__ inline void load_quad(const TileSource& in, int x, int y, Border border,
                                 uint32_t (&planes)[kColours<C>]) {
  const int sy = border_index(y, in.extent.height, border);
  for (int c = 0; c < kColours<C>; ++c) planes[c] = 0;
  if (sy < 0) return;
  const uint8_t* row = in.row(sy);
  const bool inside = in.aligned && x >= 0 && x + 4 <= in.extent.width;
  if constexpr (C == 1) {
    if (inside) {
      planes[0] = *reinterpret_cast<const uint32_t*>(row + x);
      return;
    }
  } else if (inside) {
    const uint4 v = *reinterpret_cast<const uint4*>(row + 4 * x);
    const uint32_t pixels[4] = {v.x, v.y, v.z, v.w};
    for (int c = 0; c < 3; ++c) planes[c] = channel_of(pixels, c);
    return;
  }
  for (int i = 0; i < 4; ++i) {
    const int sx = border_index(x + i, in.extent.width, border);
    for (int c = 0; c < kColours<C>; ++c)
      planes[c] |= sx < 0 ? 0u : static_cast<uint32_t>(row[sx * C + c]) << (8 * i);
  }
}

/// Loads a tile that lies inside an aligned image; the other arguments are those of load_planar_tile().
template <int C>
__device__ inline void load_inner_tile(const TileSource& in, int x0, int y0, int words, int rows,
                                       uint32_t* tile, int pitch_words, int plane_words, int t, int threads) {
  const int down = threads / words, right = threads - down * words;
  int row = t / words, word = t - row * words;
#pragma unroll 4
  while (row < rows) {
    const uint8_t* from = in.row(y0 + row) + C * (x0 + 4 * word);
    uint32_t* const to = tile + row * pitch_words + word;
    if constexpr (C == 1) {
      *to = *reinterpret_cast<const uint32_t*>(from);
    } else {
      const uint4 v = *reinterpret_cast<const uint4*>(from);
      const uint32_t pixels[4] = {v.x, v.y, v.z, v.w};
      for (int c = 0; c < 3; ++c) to[c * plane_words] = channel_of(pixels, c);
    }
    row += down, word += right;
    if (word >= words) word -= words, ++row;
  }
}

/// Fills `rows` × `words` words of each plane of `tile` with pixels, starting at (x0, y0); x0 is a multiple
/// of 4. Rows are `pitch_words` apart, planes `plane_words`. `t` is the thread's index. Call from all
/// `threads` threads of the block; the caller synchronises.
template <int C>
__device__ inline void load_planar_tile(const TileSource& in, int x0, int y0, Border border, int words,
                                        int rows, uint32_t* tile, int pitch_words, int plane_words, int t,
                                        int threads) {
  if (in.aligned && x0 >= 0 && y0 >= 0 && x0 + 4 * words <= in.extent.width && y0 + rows <= in.extent.height)
    return load_inner_tile<C>(in, x0, y0, words, rows, tile, pitch_words, plane_words, t, threads);
  for (int i = t; i < words * rows; i += threads) {
    const int row = i / words, word = i - row * words;
    uint32_t planes[kColours<C>];
    load_quad<C>(in, x0 + 4 * word, y0 + row, border, planes);
    for (int c = 0; c < kColours<C>; ++c) tile[c * plane_words + row * pitch_words + word] = planes[c];
  }
}

/// Stores four pixels, starting at (x, y), except those outside the image. Alpha comes from `in`. `aligned`:
/// output rows start at multiples of 4 bytes.
template <int C>
__device__ inline void store_quad(const TileSource& in, const ImageView<uint8_t>& out, bool aligned, int x,
                                  int y, const uint32_t (&planes)[kColours<C>]) {
  const int count = min(4, out.extent.width - x);
  uint8_t* to = out.row(y) + x * C;
  if constexpr (C == 1) {
    store_bytes(to, planes[0], count, aligned);
  } else {
    const uint8_t* from = in.row(y) + 4 * x;
    for (int i = 0; i < count; ++i) {
      uint32_t pixel = static_cast<uint32_t>(from[4 * i + 3]) << 24;
      for (int c = 0; c < 3; ++c) pixel |= (planes[c] >> (8 * i) & 255) << (8 * c);
      store_word(to + 4 * i, pixel, aligned);
    }
  }
}

}  // namespace lensd
