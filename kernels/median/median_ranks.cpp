// median of 16-bit images with radius 4 and more on the CPU: tiles of ranks (J. Suomela, Median filtering is
// equivalent to sorting, 2014).
//
// The samples under a tile are sorted, and each is replaced by its rank; equal samples get different ranks.
// The window is then a set of marks, one for each rank, and moving it by a row changes 2 · (2r + 1) marks.
// Marks are grouped. While the window moves, down one column of the tile and up the next one, the group that
// contains the median and the number of marks before that group are updated. The cost depends little on the
// picture.
#include <algorithm>
#include <utility>

#include "kernels/common/border/border_simd.hpp"
#include "kernels/common/keep_alpha.hpp"
#include "kernels/common/samples.hpp"
#include "kernels/median/median.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/median/median_ranks.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

#ifndef LENSD_MEDIAN_RANKS_ONCE
#define LENSD_MEDIAN_RANKS_ONCE
namespace lensd {

inline constexpr int kRankSamples = 8192;  ///< maximum number of samples under a tile
inline constexpr int kRankRowPixels =
    kRankSamples / (2 * kMedianMergeRadius + 3);  ///< maximum pixels of a row under a tile
inline constexpr int kRankTallest = 64;           ///< maximum number of rows of a tile

/// Private memory of a worker.
struct MedianRankTile {
  alignas(64) uint8_t marks[kRankSamples];  ///< 255 for ranks in the window, else 0
  uint16_t values[kRankSamples];            ///< samples by rank
  uint16_t ranks[kRankSamples + 64];        ///< ranks by position in the tile, with padding for vector loads
  uint32_t keys[2][kRankSamples];           ///< sample · 2^16 + position
  uint32_t counts[2][256];                  ///< number of samples by low byte and by high byte
  uint16_t line[4 * kRankRowPixels];        ///< a row of pixels under the tile
};

/// Position and size of a tile in pixels, without its border of `radius` pixels. pitch() and height() include
/// the border.
struct MedianRankArea {
  int x0, y0, width, rows, radius;

  int pitch() const { return width + 2 * radius; }
  int height() const { return rows + 2 * radius; }
};

}  // namespace lensd
#endif

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The marks of the ranks in the window, and the group of marks that holds its median.
class MedianRankWindow {
 public:
  MedianRankWindow(uint8_t* marks, int samples, int side)
      : marks_(marks), side_(side), half_(side * side / 2) {
    std::fill_n(marks_, (samples + 63) / 64 * 64, uint8_t{0});
  }

  /// Adds a row. Use before the first call of median().
  void insert(const uint16_t* row) {
    for (int i = 0; i < side_; ++i) marks_[row[i]] = 255;
  }
  void replace(const uint16_t* leaving, const uint16_t* entering) {
    before_ += count_before(entering) - count_before(leaving);
    uint8_t* const marks = marks_;
    const int side = side_;
    for (int i = 0; i < side; ++i) marks[leaving[i]] = 0, marks[entering[i]] = 255;
  }
  /// Replaces a column of the window. Successive ranks of a column are `pitch` apart.
  void replace(const uint16_t* leaving, const uint16_t* entering, int pitch) {
    const int first = group_ * kGroup;
    for (int i = 0; i < side_; ++i) {
      const int out = leaving[i * pitch], in = entering[i * pitch];
      before_ += (in < first ? 1 : 0) - (out < first ? 1 : 0);
      marks_[out] = 0, marks_[in] = 255;
    }
  }
  /// Returns the median's rank.
  int median() {
    while (before_ > half_) before_ -= count(--group_);
    for (;;) {
      const int members = count(group_);
      if (before_ + members > half_) break;
      before_ += members, ++group_;
    }
    uint64_t bits = 0;
    hn::StoreMaskBits(D8(), members_of(group_), reinterpret_cast<uint8_t*>(&bits));
    for (int i = half_ - before_; i > 0; --i) bits &= bits - 1;
    return group_ * kGroup + __builtin_ctzll(bits);
  }

 private:
  using D8 = hn::CappedTag<uint8_t, 64>;
  using D16 = hn::RepartitionToWide<D8>;
  static constexpr int kGroup = static_cast<int>(hn::MaxLanes(D8()));

  HWY_INLINE hn::Mask<D8> members_of(int group) const {
    return hn::Ne(hn::Load(D8(), marks_ + group * kGroup), hn::Zero(D8()));
  }
  HWY_INLINE int count(int group) const { return static_cast<int>(hn::CountTrue(D8(), members_of(group))); }
  /// Returns the number of the row's ranks that lie in the groups before the median's group.
  HWY_INLINE int count_before(const uint16_t* row) const {
    const D16 d16;
    const auto first = hn::Set(d16, static_cast<uint16_t>(group_ * kGroup));
    int sum = 0;
    for (int i = 0; i < side_; i += static_cast<int>(hn::Lanes(d16))) {
      const auto before = hn::Lt(hn::LoadU(d16, row + i), first);
      sum += static_cast<int>(
          hn::CountTrue(d16, hn::And(before, hn::FirstN(d16, static_cast<size_t>(side_ - i)))));
    }
    return sum;
  }

  uint8_t* marks_;
  int side_, half_;
  int group_ = 0, before_ = 0;  ///< the median's group, and the number of marks before it
};

/// Writes the medians of channel `c`.
void write_medians(const ImageRef& out, const MedianRankArea& area, int c, MedianRankTile& tile) {
  const int pitch = area.pitch(), side = 2 * area.radius + 1, step = out.channels();
  MedianRankWindow window(tile.marks, pitch * area.height(), side);
  for (int row = 0; row < side; ++row) window.insert(tile.ranks + row * pitch);
  for (int x = 0; x < area.width; ++x) {
    const bool down = x % 2 == 0;
    const uint16_t* const column = tile.ranks + x;
    if (x > 0) {
      const uint16_t* const top = column + (down ? 0 : area.rows - 1) * pitch;
      window.replace(top - 1, top + side - 1, pitch);
    }
    for (int i = 0; i < area.rows; ++i) {
      const int y = down ? i : area.rows - 1 - i;
      if (i > 0 && down) window.replace(column + (y - 1) * pitch, column + (y + side - 1) * pitch);
      if (i > 0 && !down) window.replace(column + (y + side) * pitch, column + y * pitch);
      out.samples<uint16_t>(area.y0 + y)[(area.x0 + x) * step + c] = tile.values[window.median()];
    }
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(write_medians);

namespace {

/// Replaces the counts with their exclusive prefix sums.
void add_up(uint32_t (&counts)[256]) {
  uint32_t sum = 0;
  for (uint32_t& count : counts) sum += std::exchange(count, sum);
}

/// Loads the samples of channel `c` under the tile as sort keys. Counts them by low byte and by high byte for
/// rank_keys().
void load_keys(const ConstImageRef& in, const MedianRankArea& area, Border border, int c,
               MedianRankTile& tile) {
  const int step = in.channels(), x = area.x0 - area.radius, pitch = area.pitch();
  std::fill_n(tile.counts[0], 512, 0u);
  uint32_t position = 0;
  for (int row = 0; row < area.height(); ++row) {
    copy_span(border_row(in, area.y0 - area.radius + row, border), in.width(), in.pixel_bytes(), x, x + pitch,
              border, reinterpret_cast<uint8_t*>(tile.line));
    for (int i = 0; i < pitch; ++i) {
      const uint32_t value = tile.line[i * step + c];
      ++tile.counts[0][value & 255], ++tile.counts[1][value >> 8];
      tile.keys[0][position] = value << 16 | position;
      ++position;
    }
  }
}

/// Sorts the keys by radix and fills `values` and `ranks`.
void rank_keys(int samples, MedianRankTile& tile) {
  add_up(tile.counts[0]), add_up(tile.counts[1]);
  for (int i = 0; i < samples; ++i) {
    const uint32_t key = tile.keys[0][i];
    tile.keys[1][tile.counts[0][key >> 16 & 255]++] = key;
  }
  for (int i = 0; i < samples; ++i) {
    const uint32_t key = tile.keys[1][i], rank = tile.counts[1][key >> 24]++;
    tile.values[rank] = static_cast<uint16_t>(key >> 16);
    tile.ranks[key & 65535] = static_cast<uint16_t>(rank);
  }
}

}  // namespace

size_t Median::ranks_worker_bytes() {
  return sizeof(MedianRankTile);
}

void Median::run_ranks(const PassArgs& args, Band band) const {
  auto& tile = *reinterpret_cast<MedianRankTile*>(args.worker);
  const ConstImageRef in = args.in[0];
  const Border border = block_of(args).border;
  const auto write = HWY_DYNAMIC_DISPATCH(write_medians);
  for (int y = band.begin; y < band.end; y += kRankTallest) {
    MedianRankArea area{0, y, 0, std::min(kRankTallest, band.end - y), radius_};
    const int widest = kRankSamples / area.height() - 2 * radius_, tiles = (in.width() + widest - 1) / widest;
    const int width = (in.width() + tiles - 1) / tiles;
    for (area.x0 = 0; area.x0 < in.width(); area.x0 += width) {
      area.width = std::min(width, in.width() - area.x0);
      for (int c = 0; c < colour_channels(in.format.format); ++c) {
        load_keys(in, area, border, c, tile);
        rank_keys(area.pitch() * area.height(), tile);
        write(args.out, area, c, tile);
      }
      if (in.channels() == 1) continue;
      for (int row = y; row < y + area.rows; ++row)
        keep_alpha(in.samples<uint16_t>(row) + 4 * area.x0, args.out.samples<uint16_t>(row) + 4 * area.x0,
                   area.width);
    }
  }
}

}  // namespace lensd
#endif
