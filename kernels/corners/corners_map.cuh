// Corner detection on CUDA: computes tiles of the eigenvalue map and their local maxima in shared memory.
#pragma once

#include "kernels/common/border/border.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/corners/corners.hpp"
#include "kernels/corners/corners_device.hpp"
#include "kernels/corners/corners_math.hpp"

namespace lensd {

/// A tile has 128 columns of gradients, one per thread, and 129 − block columns of eigenvalues. All
/// eigenvalue columns except the outer two can hold corners.
struct CornerTile {
  static constexpr int threads = 128, rows = 32;  ///< rows that can hold corners, one bit of a word per row
  static constexpr int map_rows = rows + 2;
  /// Groups of 4 pixels per row: threads + 2 columns, and up to 3 columns before them, because rows begin at
  /// a multiple of 4.
  static constexpr int words = (threads + 2 + 3) / 4 + 1;
  static constexpr int pixel_rows = map_rows + kCornerMaxBlock - 1 + 2;
  __host__ __device__ static constexpr int width(int block) { return threads - 1 - block; }
};

template <class Pixel>
struct CornerTileShared {
  alignas(8) Pixel pixels[CornerTile::pixel_rows * CornerTile::words * 4];
  int32_t sums[2][3][CornerTile::threads];  ///< sums s, a and b by column, for this row and the previous one
  float map[CornerTile::map_rows][CornerTile::threads];
  uint32_t strongest, count, first;
};

/// Loads `rows` rows of a tile's pixels, starting at (x0, y0); x0 is a multiple of 4. Border rule:
/// reflect101.
__device__ inline void load_corner_pixels(const ImageView<const uint8_t>& luma, int, int x0, int y0, int rows,
                                          uint8_t* pixels) {
  for (int i = static_cast<int>(threadIdx.x); i < rows * CornerTile::words; i += CornerTile::threads) {
    const int row = i / CornerTile::words, x = x0 + 4 * (i - row * CornerTile::words);
    const uint8_t* const from = luma.row(border_index(y0 + row, luma.extent.height, Border::reflect101));
    uint32_t word = 0;
    if (x >= 0 && x + 4 <= luma.extent.width)
      word = *reinterpret_cast<const uint32_t*>(from + x);
    else
      for (int k = 0; k < 4; ++k)
        word |= static_cast<uint32_t>(from[border_index(x + k, luma.extent.width, Border::reflect101)])
                << (8 * k);
    reinterpret_cast<uint32_t*>(pixels)[i] = word;
  }
}
/// Loads the pixels of a 16-bit image, which have 7 fraction bits, and rounds them to `bits` fraction bits.
__device__ inline void load_corner_pixels(const ImageView<const uint16_t>& luma, int bits, int x0, int y0,
                                          int rows, uint16_t* pixels) {
  for (int i = static_cast<int>(threadIdx.x); i < rows * CornerTile::words; i += CornerTile::threads) {
    const int row = i / CornerTile::words, x = x0 + 4 * (i - row * CornerTile::words);
    const uint16_t* const from = luma.row(border_index(y0 + row, luma.extent.height, Border::reflect101));
    ushort4 four;
    if (x >= 0 && x + 4 <= luma.extent.width) {
      four = *reinterpret_cast<const ushort4*>(from + x);
    } else {
      const auto at = [&](int k) { return from[border_index(x + k, luma.extent.width, Border::reflect101)]; };
      four = {at(0), at(1), at(2), at(3)};
    }
    const auto rounded = [bits](int v) { return static_cast<uint16_t>(corner_rounded(v, bits)); };
    reinterpret_cast<ushort4*>(pixels)[i] = {rounded(four.x), rounded(four.y), rounded(four.z),
                                             rounded(four.w)};
  }
}

/// Returns true if reflect101 reverses the order of the pixels at position `i` of a row of n, so that a
/// derivative along the row has the opposite sign.
__device__ inline bool corner_mirrored(int i, int n) {
  if ((i >= 0 && i < n) || n == 1) return false;
  const int period = 2 * n - 2, m = i % period;
  return (m < 0 ? m + period : m) >= n;
}

/// Computes the gradients of a column of the tile, row by row.
template <class Pixel>
class CornerColumn {
 public:
  /// `top` is the pixel of this column in the row above the first gradient.
  __device__ explicit CornerColumn(const Pixel* top) : at_(top) {
    read(difference_[0], smooth_[0]), read(difference_[1], smooth_[1]);
  }
  __device__ int2 next() {
    int difference, smooth;
    read(difference, smooth);
    const int2 gradient = {difference_[0] + 2 * difference_[1] + difference, smooth - smooth_[0]};
    difference_[0] = difference_[1], difference_[1] = difference;
    smooth_[0] = smooth_[1], smooth_[1] = smooth;
    return gradient;
  }

 private:
  __device__ void read(int& difference, int& smooth) {
    const int left = at_[-1], right = at_[1];
    difference = right - left, smooth = left + 2 * at_[0] + right;
    at_ += CornerTile::words * 4;
  }

  const Pixel* at_;
  int difference_[2], smooth_[2];
};

/// Computes the map of the tile whose first possible corner is (x0, y0). Eigenvalues outside the picture are
/// 0. Returns the bits of the thread's maximum.
template <class Pixel>
__device__ uint32_t corner_tile_map(CornerTileShared<Pixel>& s, Extent extent, int block, int x0, int y0) {
  const int t = static_cast<int>(threadIdx.x), before = block / 2;
  const int first_x = x0 - 1 - before, first_y = y0 - 1 - before;  // position of the first gradient
  const int x = first_x + t;
  const Pixel* const top = s.pixels + ((first_x - 1) & 3) + 1 + t;
  CornerColumn<Pixel> entering(top), leaving(top);
  const bool mirrored_x = corner_mirrored(x, extent.width);
  int sum_s = 0, sum_a = 0, sum_b = 0;
  // Gradients computed from mirrored pixels have the wrong sign: the definition mirrors gradients, not
  // pixels.
  const auto add = [&](int2 g, int y, int sign) {
    const int product = g.x * g.y, a = g.x * g.x;
    sum_s += sign * (a + g.y * g.y), sum_a += sign * a;
    sum_b += (mirrored_x != corner_mirrored(y, extent.height) ? -sign : sign) * product;
  };
  uint32_t most = 0;
  for (int row = 0; row < CornerTile::map_rows + block - 1; ++row) {
    add(entering.next(), first_y + row, 1);
    if (row >= block) add(leaving.next(), first_y + row - block, -1);
    const int map_row = row - (block - 1);
    if (map_row < 0) continue;
    int32_t(&sums)[3][CornerTile::threads] = s.sums[row & 1];
    sums[0][t] = sum_s, sums[1][t] = sum_a, sums[2][t] = sum_b;
    __syncthreads();  // after it, the other buffer can be overwritten: all threads have read it
    float value = 0;
    const int map_x = x0 - 1 + t, map_y = y0 - 1 + map_row;
    if (t < CornerTile::threads - block + 1 && map_x >= 0 && map_x < extent.width && map_y >= 0 &&
        map_y < extent.height) {
      int all_s = 0, all_a = 0, all_b = 0;
      for (int k = 0; k < block; ++k)
        all_s += sums[0][t + k], all_a += sums[1][t + k], all_b += sums[2][t + k];
      value = corner_eigenvalue(all_s, all_a, all_b);
    }
    s.map[map_row][t] = value;
    most = max(most, __float_as_uint(value));
  }
  return most;
}

/// Returns a word with a bit for each of the tile's rows in which this thread's column has a local maximum
/// above `least`.
template <class Pixel>
__device__ uint32_t corner_tile_maxima(const CornerTileShared<Pixel>& s, Extent extent, int block, int x0,
                                       int y0, float least) {
  const int t = static_cast<int>(threadIdx.x), x = x0 + t;
  if (t >= CornerTile::width(block) || x < 1 || x >= extent.width - 1) return 0;
  uint32_t bits = 0;
  const auto largest = [&](int row) {
    return fmaxf(fmaxf(s.map[row][t], s.map[row][t + 1]), s.map[row][t + 2]);
  };
  float above = largest(0);
  for (int row = 1; row <= CornerTile::rows; ++row) {
    const int y = y0 + row - 1;
    const float left = s.map[row][t], value = s.map[row][t + 1], right = s.map[row][t + 2];
    if (y >= 1 && y < extent.height - 1 && value > least && value > above && value > left && value >= right &&
        value >= largest(row + 1))
      bits |= 1u << (row - 1);
    above = fmaxf(fmaxf(left, value), right);
  }
  return bits;
}

}  // namespace lensd
