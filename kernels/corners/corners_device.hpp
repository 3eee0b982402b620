// Memory of corner detection on CUDA, for the host that sizes it and the kernels that use it.
//
// Candidates are sorted into square cells, so that what is near one is found in a few of them. No two
// candidates touch, hence a cell of even side holds at most (side / 2)² and has its fixed places.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image/tracks.hpp"
#include "core/image/view.hpp"

namespace lensd {

inline constexpr int kCornerLeastCell = 8, kCornerLargestCell = 64;

/// Counters that start at zero in every detection.
struct CornerCounters {
  uint32_t candidates;  ///< local maxima
  uint32_t strongest;   ///< of the map, as Corner::strength
  uint32_t pending[2];  ///< candidates that each of the two rounds decides on
  uint32_t accepted;
  uint32_t unused[3];
};

/// Buckets of Corner::strength, weakest first: 16 for each doubling.
struct CornerHistogram {
  static constexpr int count = 4096;
  LENSD_HD static constexpr int of(uint32_t strength) { return static_cast<int>(strength >> 19); }
};

/// Where everything is in the scratch. With a null block only `bytes` means something.
struct CornerDeviceMemory {
  CornerCounters* counters;
  uint32_t* histogram;
  uint32_t* cell_counts;  ///< candidates in each cell
  uint32_t* living;       ///< the first living track in each cell, its place + 1
  size_t cleared_words;   ///< from `counters` to here
  uint32_t* next;         ///< by place in the track table: the next one in the cell, its place + 1
  uint64_t* candidates;   ///< corner_key()s in any order
  /// The cells' places: corner_key() · 2, + 1 once accepted; 0 once rejected.
  uint64_t* slots;
  uint32_t* pending;   ///< candidates to decide on, as places in `slots`
  uint32_t* rivals;    ///< by place in `pending`: the stronger one that each waits for, a place in `slots`
  uint64_t* accepted;  ///< corner_key()s in any order
  size_t bytes;

  CornerDeviceMemory(uint8_t* memory, Extent e) {
    size_t used = 0;
    const auto take = [&](size_t bytes_of_one, size_t count) {
      uint8_t* const at = memory ? memory + used : nullptr;
      used += (bytes_of_one * count + 255) / 256 * 256;
      return at;
    };
    const auto w = static_cast<size_t>(e.width), h = static_cast<size_t>(e.height);
    const size_t cells =
        ((w + kCornerLeastCell - 1) / kCornerLeastCell) * ((h + kCornerLeastCell - 1) / kCornerLeastCell);
    const size_t most = ((w + 1) / 2) * ((h + 1) / 2);
    const size_t places = (w + kCornerLargestCell) * (h + kCornerLargestCell) / 4;
    const auto words = [&](size_t count) { return reinterpret_cast<uint32_t*>(take(4, count)); };
    const auto longs = [&](size_t count) { return reinterpret_cast<uint64_t*>(take(8, count)); };
    counters = reinterpret_cast<CornerCounters*>(take(sizeof(CornerCounters), 1));
    histogram = words(CornerHistogram::count);
    cell_counts = words(cells), living = words(cells);
    cleared_words = used / 4;
    next = words(kMaxTracks);
    candidates = longs(most), slots = longs(places);
    pending = words(most), rivals = words(most), accepted = longs(most);
    bytes = used;
  }
};

/// The grid of cells for one distance.
struct CornerCells {
  int side, columns, rows;
  uint32_t places;  ///< in one cell
  uint32_t reach;   ///< corner_reach_squared()
  int radius;       ///< largest distance along an axis that is too close
};

}  // namespace lensd
