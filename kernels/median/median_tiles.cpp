#include "kernels/median/median_tiles.hpp"

#include <algorithm>

#include "kernels/common/border_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/median/median_tiles.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

#ifndef LENSD_MEDIAN_TILES_ONCE
#define LENSD_MEDIAN_TILES_ONCE
namespace lensd {

inline constexpr int kMedianTileWidth = 64;
inline constexpr int kMedianTilePitch = 128;  ///< of rows with their border, a multiple of every vector
static_assert(kMedianTileWidth + 2 * kMedianMaxRadius <= kMedianTilePitch);

/// A worker's memory. Samples are kept less 128, since SIMD compares signed bytes.
struct MedianTile {
  alignas(64) uint8_t samples[4][kMedianTileRows + 2 * kMedianMaxRadius][kMedianTilePitch];
  alignas(64) uint8_t columns[kMedianTileRows + 1][kMedianTilePitch];  ///< sums of columns, 2r + 1 rows high
  alignas(64) uint8_t groups[kMedianTileRows + 1][kMedianTilePitch];   ///< sums of `group` columns
  alignas(64) uint8_t medians[3][kMedianTileRows][kMedianTileWidth];
  alignas(64) uint8_t line[4 * (kMedianTilePitch + 64)];  ///< a row as it is in the image
};

/// How 2r + 1 columns are added up: `groups` groups of `group` and `singles` columns more.
struct MedianSplit {
  int radius, group, groups, singles;

  /// The cheapest. Groups fit into a byte; totals do up to radius 7, and cost twice as much beyond.
  static MedianSplit make(int radius) {
    const int side = 2 * radius + 1, weight = side * side > 255 ? 2 : 1;
    MedianSplit best{radius, 1, side, 0};
    int least = weight * side;
    for (int group = 2; group * side <= 255 && group <= side; ++group) {
      const int cost = group + 1 + weight * (side / group + side % group);
      if (cost < least) least = cost, best = {radius, group, side / group, side % group};
    }
    return best;
  }
};

}  // namespace lensd
#endif

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<uint8_t>;
using I8 = hn::Repartition<int8_t, D8>;
using D16 = hn::Repartition<uint16_t, D8>;
using I16 = hn::Repartition<int16_t, D8>;
using V8 = hn::Vec<D8>;
using Row = uint8_t[kMedianTilePitch];

/// columns: of every column and 2r + 1 rows, how many samples are at or above `threshold`.
void count_columns(const Row* samples, int radius, int rows, int threshold, MedianTile& tile) {
  const D8 d8;
  const I8 i8;
  const auto below = hn::Set(i8, static_cast<int8_t>(threshold - 129));
  const int lanes = static_cast<int>(hn::Lanes(d8)), side = 2 * radius + 1;
  for (int x = 0; x < kMedianTileWidth + 2 * radius; x += lanes) {
    const auto at_or_above = [&](int row) HWY_ATTR {  // −1 or 0
      return hn::BitCast(d8,
                         hn::VecFromMask(i8, hn::Gt(hn::BitCast(i8, hn::Load(d8, samples[row] + x)), below)));
    };
    V8 sum = hn::Zero(d8);
    for (int row = 0; row + 1 < side; ++row) sum = hn::Sub(sum, at_or_above(row));
    for (int y = 0; y < rows; ++y) {
      sum = hn::Sub(sum, at_or_above(y + side - 1));
      hn::Store(sum, d8, tile.columns[y] + x);
      sum = hn::Add(sum, at_or_above(y));
    }
  }
}

/// groups: of every column and the `group` − 1 to its right, the sum.
void add_groups(const MedianSplit& split, int rows, MedianTile& tile) {
  const D8 d8;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  const int width = kMedianTileWidth + 2 * split.radius + 1 - split.group;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < width; x += lanes) {
      V8 sum = hn::Load(d8, tile.columns[y] + x);
      for (int i = 1; i < split.group; ++i) sum = hn::Add(sum, hn::LoadU(d8, tile.columns[y] + x + i));
      hn::Store(sum, d8, tile.groups[y] + x);
    }
}

/// Calls `add` for the groups and columns that make up the windows of the pixels from `x` on.
template <class Add>
HWY_INLINE void for_each_part(const MedianSplit& split, const MedianTile& tile, int y, int x, Add add) {
  const D8 d8;
  const uint8_t* at = (split.group > 1 ? tile.groups[y] : tile.columns[y]) + x;
  for (int i = 0; i < split.groups; ++i, at += split.group) add(hn::LoadU(d8, at));
  at = tile.columns[y] + x + split.group * split.groups;
  for (int i = 0; i < split.singles; ++i) add(hn::LoadU(d8, at + i));
}

/// Whether more than half of each window is at or above the threshold; totals in bytes.
HWY_INLINE V8 majority_8(const MedianSplit& split, const MedianTile& tile, int y, int x) {
  const D8 d8;
  const I8 i8;
  const int side = 2 * split.radius + 1;
  V8 sum = hn::Set(d8, uint8_t{128});
  for_each_part(split, tile, y, x, [&](V8 part) HWY_ATTR { sum = hn::Add(sum, part); });
  const auto half = hn::Set(i8, static_cast<int8_t>(side * side / 2 - 128));
  return hn::BitCast(d8, hn::VecFromMask(i8, hn::Gt(hn::BitCast(i8, sum), half)));
}

/// The same with totals of 16 bits, those of even and odd pixels apart.
HWY_INLINE V8 majority_16(const MedianSplit& split, const MedianTile& tile, int y, int x) {
  const D8 d8;
  const D16 d16;
  const I16 i16;
  const int side = 2 * split.radius + 1;
  auto both = hn::Zero(d16), odd = hn::Zero(d16);  // even + 256 odd, modulo 65536
  for_each_part(split, tile, y, x, [&](V8 part) HWY_ATTR {
    const auto pairs = hn::BitCast(d16, part);
    both = hn::Add(both, pairs);
    odd = hn::Add(odd, hn::ShiftRight<8>(pairs));
  });
  const auto even = hn::Sub(both, hn::ShiftLeft<8>(odd));
  const auto half = hn::Set(i16, static_cast<int16_t>(side * side / 2));
  const auto mask = [&](auto sum) HWY_ATTR {
    return hn::BitCast(d8, hn::VecFromMask(i16, hn::Gt(hn::BitCast(i16, sum), half)));
  };
  return hn::OddEven(mask(odd), mask(even));
}

/// Raises the medians of all pixels that have at least `threshold`; returns how many there are.
int raise_medians(const MedianSplit& split, int rows, int threshold, const Row* samples, MedianTile& tile,
                  uint8_t (*medians)[kMedianTileWidth]) {
  const D8 d8;
  const I8 i8;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  count_columns(samples, split.radius, rows, threshold, tile);
  if (split.group > 1) add_groups(split, rows, tile);
  const V8 value = hn::Set(d8, static_cast<uint8_t>(threshold));
  size_t count = 0;
  const auto raise = [&](V8 mask, int y, int x) HWY_ATTR {
    count += hn::CountTrue(i8, hn::MaskFromVec(hn::BitCast(i8, mask)));
    hn::Store(hn::Max(hn::Load(d8, medians[y] + x), hn::And(mask, value)), d8, medians[y] + x);
  };
  const bool narrow = split.radius <= 7;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < kMedianTileWidth; x += lanes)
      raise(narrow ? majority_8(split, tile, y, x) : majority_16(split, tile, y, x), y, x);
  return static_cast<int>(count);
}

/// The medians of one plane of the tile.
void search_plane(const MedianSplit& split, int rows, const Row* samples, MedianTile& tile,
                  uint8_t (*medians)[kMedianTileWidth]) {
  const D8 d8;
  const int lanes = static_cast<int>(hn::Lanes(d8)), width = kMedianTileWidth + 2 * split.radius;
  int least = 255, most = 0;
  {
    const V8 bias = hn::Set(d8, uint8_t{128});
    V8 low = hn::Set(d8, uint8_t{255}), high = hn::Zero(d8);
    for (int y = 0; y < rows + 2 * split.radius; ++y)
      for (int x = 0; x < width; x += lanes) {  // the last vector again covers what is inside
        const V8 v = hn::Xor(hn::LoadU(d8, samples[y] + std::min(x, width - lanes)), bias);
        low = hn::Min(low, v), high = hn::Max(high, v);
      }
    HWY_ALIGN uint8_t lows[HWY_MAX_BYTES], highs[HWY_MAX_BYTES];
    hn::Store(low, d8, lows), hn::Store(high, d8, highs);
    for (int i = 0; i < lanes; ++i) {
      least = std::min(least, static_cast<int>(lows[i]));
      most = std::max(most, static_cast<int>(highs[i]));
    }
  }
  std::fill_n(medians[0], rows * kMedianTileWidth, static_cast<uint8_t>(least));

  struct Interval {
    int from, to, at_from, at_to;  ///< thresholds, and how many pixels are at or above them
  };
  Interval open[16];  // the deeper half of 256 is taken first: at most eight wait
  int count = 0;
  open[count++] = {least, most + 1, rows * kMedianTileWidth, 0};
  while (count > 0) {
    const Interval now = open[--count];
    if (now.to - now.from < 2 || now.at_from == now.at_to) continue;
    const int middle = (now.from + now.to) / 2;
    const int at_middle = raise_medians(split, rows, middle, samples, tile, medians);
    open[count++] = {now.from, middle, now.at_from, at_middle};
    open[count++] = {middle, now.to, at_middle, now.at_to};
  }
}

/// The samples under the tile whose first pixel is (x0, y0), plane by plane, less 128.
void load_tile(ConstImageRef in, const MedianBlock& block, int x0, int y0, int rows, MedianTile& tile) {
  const D8 d8;
  const V8 bias = hn::Set(d8, uint8_t{128});
  const int lanes = static_cast<int>(hn::Lanes(d8)), r = block.radius, width = kMedianTileWidth + 2 * r;
  for (int row = 0; row < rows + 2 * r; ++row) {
    copy_span(border_row(in, y0 - r + row, block.border), in.width(), in.channels(), x0 - r, x0 - r + width,
              block.border, tile.line);
    for (int x = 0; x < width; x += lanes) {
      if (in.channels() == 1) {
        hn::Store(hn::Xor(hn::LoadU(d8, tile.line + x), bias), d8, tile.samples[0][row] + x);
        continue;
      }
      V8 planes[4];
      hn::LoadInterleaved4(d8, tile.line + 4 * x, planes[0], planes[1], planes[2], planes[3]);
      for (int c = 0; c < 4; ++c) hn::Store(hn::Xor(planes[c], bias), d8, tile.samples[c][row] + x);
    }
  }
}

void store_tile(ImageRef out, int radius, int x0, int y0, int rows, MedianTile& tile) {
  const D8 d8;
  const V8 bias = hn::Set(d8, uint8_t{128});
  const int lanes = static_cast<int>(hn::Lanes(d8)), step = out.channels();
  const auto bytes = static_cast<size_t>(std::min(kMedianTileWidth, out.width() - x0) * step);
  for (int y = 0; y < rows; ++y) {
    const uint8_t* from = tile.medians[0][y];
    if (step == 4) {
      for (int x = 0; x < kMedianTileWidth; x += lanes) {
        const V8 alpha = hn::Xor(hn::LoadU(d8, tile.samples[3][y + radius] + x + radius), bias);
        hn::StoreInterleaved4(hn::Load(d8, tile.medians[0][y] + x), hn::Load(d8, tile.medians[1][y] + x),
                              hn::Load(d8, tile.medians[2][y] + x), alpha, d8, tile.line + 4 * x);
      }
      from = tile.line;
    }
    std::memcpy(out.row(y0 + y) + x0 * step, from, bytes);
  }
}

void median_tile_rows(ConstImageRef in, ImageRef out, int y0, int rows, const MedianBlock& block,
                      MedianTile& tile) {
  const MedianSplit split = MedianSplit::make(block.radius);
  for (int x0 = 0; x0 < in.width(); x0 += kMedianTileWidth) {
    load_tile(in, block, x0, y0, rows, tile);
    for (int c = 0; c < std::min(3, in.channels()); ++c)
      search_plane(split, rows, tile.samples[c], tile, tile.medians[c]);
    store_tile(out, block.radius, x0, y0, rows, tile);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(median_tile_rows);

size_t median_tiles_worker_bytes() {
  return sizeof(MedianTile);
}

void median_tiles_band(ConstImageRef in, ImageRef out, Band band, const MedianBlock& block, uint8_t* worker) {
  auto& tile = *reinterpret_cast<MedianTile*>(worker);
  const auto rows = HWY_DYNAMIC_DISPATCH(median_tile_rows);
  for (int y = band.begin; y < band.end; y += kMedianTileRows)
    rows(in, out, y, std::min(kMedianTileRows, band.end - y), block, tile);
}

}  // namespace lensd
#endif
