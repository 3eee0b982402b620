// median of 8-bit images with radius 4 and more on the CPU: tiles searched over thresholds.
//
// The median of a pixel is the largest t for which more than half of its window is ≥ t. For one t, the counts
// of samples ≥ t in all windows of a tile are box sums of comparisons: running sums down the columns, then a
// few shifted additions along the rows. Each byte of a vector is one sample.
//
// Thresholds are bisected for the whole tile. If the same number of medians of a tile row is at or above two
// thresholds, no median of that row lies between them, and the row is skipped between these thresholds. A
// tile costs about one box sum per distinct median, at most 255; the radius has little effect. Up to radius 7
// a tile is narrow enough that its row with the border is 64 bytes, which stay in registers while they are
// summed.
#include "kernels/median/median.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/common/border/border_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/median/median_tiles_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

#ifndef LENSD_MEDIAN_TILES_ONCE
#define LENSD_MEDIAN_TILES_ONCE
namespace lensd {

inline constexpr int kMedianTileWidth = 64;  ///< maximum columns of a tile
/// Bytes of a row with its border; a multiple of all vector sizes.
inline constexpr int kMedianTilePitch = 128;
static_assert(kMedianTileWidth + 2 * kMedianMaxRadius <= kMedianTilePitch);

/// Up to this radius a row of 64 samples, border included, is summed in registers.
inline constexpr int kMedianRowRadius = 7;
constexpr int median_tile_width(int radius) {
  return radius <= kMedianRowRadius ? kMedianTileWidth - 2 * radius : kMedianTileWidth;
}

using MedianRow = uint8_t[kMedianTileWidth];

/// Private memory of a worker. 128 is subtracted from samples, since SIMD compares signed bytes.
struct MedianTile {
  alignas(64) uint8_t samples[4][kMedianTileRows + 2 * kMedianMaxRadius][kMedianTilePitch];
  alignas(64) uint8_t columns[kMedianTileRows + 1][kMedianTilePitch];  ///< column sums over 2r + 1 rows
  alignas(64) uint8_t groups[kMedianTileRows + 1][kMedianTilePitch];   ///< sums of `group` adjacent columns
  alignas(64) MedianRow medians[3][kMedianTileRows];
  alignas(64) uint8_t line[4 * (kMedianTilePitch + 64)];  ///< buffer for a row in the image's format
};

/// Decomposition of 2r + 1 columns: `groups` groups of `group` columns and `singles` columns.
struct MedianSplit {
  int radius, group, groups, singles;

  /// Returns the split with the lowest cost. Group sums fit in a byte; totals need 16 bits and cost twice as
  /// much.
  static MedianSplit make(int radius) {
    const int side = 2 * radius + 1, weight = 2;
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

using D8 = hn::CappedTag<uint8_t, 64>;
using I8 = hn::Repartition<int8_t, D8>;
using D16 = hn::Repartition<uint16_t, D8>;
using I16 = hn::Repartition<int16_t, D8>;
using V8 = hn::Vec<D8>;
using Row = uint8_t[kMedianTilePitch];

#include "kernels/median/median_sums-inl.hpp"

/// For each row y in [first, end), sets tile.columns[y][x] to the number of samples ≥ `threshold` in column x
/// of rows y to y + 2r.
void count_columns(const Row* samples, int radius, int first, int end, int threshold, MedianTile& tile) {
  const D8 d8;
  const I8 i8;
  const auto below = hn::Set(i8, static_cast<int8_t>(threshold - 129));
  const int lanes = static_cast<int>(hn::Lanes(d8)), side = 2 * radius + 1;
  for (int x = 0; x < kMedianTileWidth + 2 * radius; x += lanes) {
    const auto at_or_above = [&](int row) HWY_ATTR {  // −1 or 0 in each byte
      return hn::BitCast(d8,
                         hn::VecFromMask(i8, hn::Gt(hn::BitCast(i8, hn::Load(d8, samples[row] + x)), below)));
    };
    V8 sum = hn::Zero(d8);
    for (int row = first; row + 1 < first + side; ++row) sum = hn::Sub(sum, at_or_above(row));
    for (int y = first; y < end; ++y) {
      sum = hn::Sub(sum, at_or_above(y + side - 1));
      hn::Store(sum, d8, tile.columns[y] + x);
      sum = hn::Add(sum, at_or_above(y));
    }
  }
}

/// Fills row y of tile.groups with the sums of each column and the `group` − 1 columns to its right.
void add_groups(const MedianSplit& split, int y, MedianTile& tile) {
  const D8 d8;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  const int width = kMedianTileWidth + 2 * split.radius + 1 - split.group;
  for (int x = 0; x < width; x += lanes) {
    V8 sum = hn::Load(d8, tile.columns[y] + x);
    for (int i = 1; i < split.group; ++i) sum = hn::Add(sum, hn::LoadU(d8, tile.columns[y] + x + i));
    hn::Store(sum, d8, tile.groups[y] + x);
  }
}

/// Returns the mask of the pixels of row y, starting at column `x`, that have more than half of their window
/// at or above the threshold. Even and odd pixels have separate 16-bit totals.
HWY_INLINE V8 majority(const MedianSplit& split, const MedianTile& tile, int y, int x) {
  const D8 d8;
  const D16 d16;
  const I16 i16;
  const int side = 2 * split.radius + 1;
  auto both = hn::Zero(d16), odd = hn::Zero(d16);  // both: even + 256 · odd, modulo 65536
  const auto add = [&](const uint8_t* at) HWY_ATTR {
    const auto pairs = hn::BitCast(d16, hn::LoadU(d8, at));
    both = hn::Add(both, pairs);
    odd = hn::Add(odd, hn::ShiftRight<8>(pairs));
  };
  for (int i = 0; i < split.groups; ++i) add(tile.groups[y] + x + i * split.group);
  for (int i = 0; i < split.singles; ++i) add(tile.columns[y] + x + split.group * split.groups + i);
  const auto even = hn::Sub(both, hn::ShiftLeft<8>(odd));
  const auto half = hn::Set(i16, static_cast<int16_t>(side * side / 2));
  const auto mask = [&](auto sum) HWY_ATTR {
    return hn::BitCast(d8, hn::VecFromMask(i16, hn::Gt(hn::BitCast(i16, sum), half)));
  };
  return hn::OddEven(mask(odd), mask(even));
}

/// Variant of raise_rows() for radius 8 and more.
void raise_wide_rows(const MedianSplit& split, const Row* samples, uint32_t active, int threshold,
                     MedianTile& tile, MedianRow* medians, uint8_t* counts) {
  const D8 d8;
  const I8 i8;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  count_columns(samples, split.radius, __builtin_ctz(active), 32 - __builtin_clz(active), threshold, tile);
  const V8 value = hn::Set(d8, static_cast<uint8_t>(threshold));
  for (uint32_t left = active; left; left &= left - 1) add_groups(split, __builtin_ctz(left), tile);
  for (uint32_t left = active; left; left &= left - 1) {
    const int y = __builtin_ctz(left);
    size_t count = 0;
    for (int x = 0; x < kMedianTileWidth; x += lanes) {
      const V8 mask = majority(split, tile, y, x);
      hn::Store(hn::Max(hn::Load(d8, medians[y] + x), hn::And(mask, value)), d8, medians[y] + x);
      count += hn::CountTrue(i8, hn::MaskFromVec(hn::BitCast(i8, mask)));
    }
    counts[y] = static_cast<uint8_t>(count);
  }
}

/// Returns the minimum and maximum of the samples under the tile.
std::pair<int, int> range_of(const Row* samples, int rows, int width) {
  const D8 d8;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  const V8 bias = hn::Set(d8, uint8_t{128});
  V8 low = hn::Set(d8, uint8_t{255}), high = hn::Zero(d8);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < width; x += lanes) {  // the last vector overlaps the previous one
      const V8 v = hn::Xor(hn::LoadU(d8, samples[y] + std::min(x, width - lanes)), bias);
      low = hn::Min(low, v), high = hn::Max(high, v);
    }
  HWY_ALIGN uint8_t lows[HWY_MAX_BYTES], highs[HWY_MAX_BYTES];
  hn::Store(low, d8, lows), hn::Store(high, d8, highs);
  return {*std::min_element(lows, lows + lanes), *std::max_element(highs, highs + lanes)};
}

/// Computes the medians of one plane of the tile. `least`, `most`: range of the samples. `raise(active,
/// threshold, counts)` calls raise_rows() or raise_wide_rows().
template <class Raise>
HWY_INLINE void search_plane(int rows, int width, int least, int most, Raise raise) {
  struct Interval {
    int from, to;  ///< thresholds at both ends
    /// Number of medians ≥ each end, by row.
    alignas(16) uint8_t at_from[kMedianTileRows], at_to[kMedianTileRows];
  };
  Interval open[16];  // stack for depth-first search over 256 values: at most nine are pending
  int pending = 0;
  open[pending++] = {least, most + 1, {}, {}};
  std::fill_n(open[0].at_from, rows, static_cast<uint8_t>(width));
  while (pending > 0) {
    const Interval now = open[--pending];
    if (now.to - now.from < 2) continue;
    uint32_t active = 0;  // mask of the rows with a median inside `now`
    for (int y = 0; y < kMedianTileRows; ++y)
      active |= static_cast<uint32_t>(now.at_from[y] != now.at_to[y]) << y;
    if (active == 0) continue;
    const int middle = (now.from + now.to) / 2;
    Interval &lower = open[pending++], &upper = open[pending++];
    lower = now, upper = now, lower.to = upper.from = middle;
    raise(active, middle, upper.at_from);
    std::memcpy(lower.at_to, upper.at_from, sizeof(upper.at_from));
  }
}

template <int kRadius>
void search_narrow(const Row* samples, int rows, int width, MedianRow* medians) {
  HWY_ALIGN uint8_t limits[64];
  std::fill_n(limits, 64, uint8_t{255});
  std::fill_n(limits, width, static_cast<uint8_t>((2 * kRadius + 1) * (2 * kRadius + 1) / 2));
  Row64 half;
  for (int i = 0; i < kRowVectors; ++i) half.v[i] = hn::Load(D8(), limits + i * (64 / kRowVectors));
  const auto [least, most] = range_of(samples, rows + 2 * kRadius, 64);
  std::fill_n(medians[0], rows * kMedianTileWidth, static_cast<uint8_t>(least));
  search_plane(rows, width, least, most, [&](uint32_t active, int threshold, uint8_t* counts) HWY_ATTR {
    raise_rows<kRadius>(samples, active, threshold, half, medians, counts);
  });
}

void search_wide(const MedianSplit& split, const Row* samples, int rows, MedianTile& tile,
                 MedianRow* medians) {
  const auto [least, most] = range_of(samples, rows + 2 * split.radius, kMedianTileWidth + 2 * split.radius);
  std::fill_n(medians[0], rows * kMedianTileWidth, static_cast<uint8_t>(least));
  search_plane(rows, kMedianTileWidth, least, most,
               [&](uint32_t active, int threshold, uint8_t* counts)
                   HWY_ATTR { raise_wide_rows(split, samples, active, threshold, tile, medians, counts); });
}

/// Loads the samples under the tile whose first pixel is (x0, y0), plane by plane, and subtracts 128.
void load_tile(ConstImageRef in, int r, Border border, int x0, int y0, int rows, MedianTile& tile) {
  const D8 d8;
  const V8 bias = hn::Set(d8, uint8_t{128});
  const int lanes = static_cast<int>(hn::Lanes(d8));
  const int width = median_tile_width(r) + 2 * r;
  for (int row = 0; row < rows + 2 * r; ++row) {
    copy_span(border_row(in, y0 - r + row, border), in.width(), in.channels(), x0 - r, x0 - r + width, border,
              tile.line);
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

void store_tile(ImageRef out, int radius, int x0, int y0, int width, int rows, MedianTile& tile) {
  const D8 d8;
  const V8 bias = hn::Set(d8, uint8_t{128});
  const int lanes = static_cast<int>(hn::Lanes(d8)), step = out.channels();
  const auto bytes = static_cast<size_t>(width * step);
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

void median_tile_rows(ConstImageRef in, ImageRef out, int y0, int rows, int radius, Border border,
                      MedianTile& tile) {
  const MedianSplit split = MedianSplit::make(radius);
  const int step = median_tile_width(radius);
  constexpr decltype(&search_narrow<4>) kNarrow[] = {search_narrow<4>, search_narrow<5>, search_narrow<6>,
                                                     search_narrow<7>};
  for (int x0 = 0; x0 < in.width(); x0 += step) {
    const int width = std::min(step, in.width() - x0);
    load_tile(in, radius, border, x0, y0, rows, tile);
    for (int c = 0; c < std::min(3, in.channels()); ++c) {
      if (radius <= kMedianRowRadius)
        kNarrow[radius - 4](tile.samples[c], rows, width, tile.medians[c]);
      else
        search_wide(split, tile.samples[c], rows, tile, tile.medians[c]);
    }
    store_tile(out, radius, x0, y0, width, rows, tile);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(median_tile_rows);

size_t Median::tiles_worker_bytes() {
  return sizeof(MedianTile);
}

void Median::run_tiles(const PassArgs& args, Band band) const {
  auto& tile = *reinterpret_cast<MedianTile*>(args.worker);
  const auto rows = HWY_DYNAMIC_DISPATCH(median_tile_rows);
  for (int y = band.begin; y < band.end; y += kMedianTileRows)
    rows(args.in[0], args.out, y, std::min(kMedianTileRows, band.end - y), radius_, block_of(args).border,
         tile);
}

}  // namespace lensd
#endif
