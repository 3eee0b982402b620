// Scratch memory of corner detection on CUDA: the host computes its size, and the kernels use it.
//
// Candidates are binned into square cells, so that neighbours are found in a few cells. No two candidates are
// adjacent, so a cell of even side holds at most (side / 2)² of them and has that many places.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image/tracks.hpp"
#include "core/image/view.hpp"

namespace lensd {

inline constexpr int kCornerMinCell = 8, kCornerMaxCell = 64;

/// Counters of a detection, which are zeroed at its start.
struct CornerCounters {
  uint32_t candidates;  ///< number of local maxima
  uint32_t strongest;   ///< maximum of the map, as Corner::strength
  uint32_t pending[2];  ///< number of candidates to decide in each of the two rounds
  uint32_t accepted;
  uint32_t selected;  ///< number of corners that the select pass has copied; 0 if it had nothing to do
  uint32_t unused[2];
};

/// Buckets of Corner::strength, weakest first, with 16 buckets per octave.
struct CornerHistogram {
  static constexpr int count = 4096;
  LENSD_HD static constexpr int of(uint32_t strength) { return static_cast<int>(strength >> 19); }
};

/// Digits of corner_key(), highest first, for the radix select. A digit has as many values as CornerHistogram
/// has buckets, so that corner_cutoff() works for both.
struct CornerDigits {
  static constexpr int bits = 12, buckets = 1 << bits, count = 5;
  /// Returns the shift that makes digit `i` the lowest one.
  LENSD_HD static constexpr int shift(int i) { return bits * (count - 1 - i); }
  LENSD_HD static constexpr int lowest(uint64_t key) { return static_cast<int>(key & (buckets - 1)); }
};
static_assert(CornerDigits::buckets == CornerHistogram::count);
static_assert(CornerDigits::bits * CornerDigits::count >= 31 + 28, "a key has 31 + 28 bits");

/// Splits a block of memory into aligned parts. With a null block it only counts bytes.
class Carver {
 public:
  explicit Carver(uint8_t* memory) : memory_(memory) {}
  template <class T>
  T* take(size_t count) {
    uint8_t* const at = memory_ ? memory_ + used_ : nullptr;
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<T*>(at);
  }
  size_t used() const { return used_; }

 private:
  static constexpr size_t kAlignment = 256;
  uint8_t* memory_;
  size_t used_ = 0;
};

/// Layout of the scratch memory. If `memory` is null, only the sizes are valid.
struct CornerDeviceMemory {
  CornerCounters* counters;
  uint32_t* histogram;
  uint32_t* cell_counts;  ///< number of candidates in each cell
  uint32_t* track_heads;  ///< index + 1 of the first live track in each cell
  uint32_t* digits;       ///< per digit: histogram of the keys with the weakest selected key's higher digits
  size_t cleared_words;   ///< 32-bit words of the parts above, which are zeroed at the start
  uint32_t* next_track;   ///< for each track: index + 1 of the next track in the cell
  uint64_t* candidates;   ///< corner_key() of each candidate, unordered; if the select pass runs, it
                          ///< replaces them with the keys of the selected corners
  /// Candidates by cell: 2 · corner_key(), plus 1 if accepted; 0 if rejected.
  uint64_t* slots;
  uint32_t* pending;  ///< indices into `slots` of the candidates to decide
  /// For each entry of `pending`: slot of the stronger neighbour that the candidate waits for.
  uint32_t* rivals;
  uint64_t* accepted;  ///< corner_key() of each accepted candidate, unordered
  size_t bytes;

  CornerDeviceMemory(uint8_t* memory, Extent e) {
    Carver carver(memory);
    const auto w = static_cast<size_t>(e.width), h = static_cast<size_t>(e.height);
    const size_t cells =
        ((w + kCornerMinCell - 1) / kCornerMinCell) * ((h + kCornerMinCell - 1) / kCornerMinCell);
    const size_t most = ((w + 1) / 2) * ((h + 1) / 2);
    const size_t places = (w + kCornerMaxCell) * (h + kCornerMaxCell) / 4;
    counters = carver.take<CornerCounters>(1);
    histogram = carver.take<uint32_t>(CornerHistogram::count);
    cell_counts = carver.take<uint32_t>(cells), track_heads = carver.take<uint32_t>(cells);
    digits = carver.take<uint32_t>(CornerDigits::count * CornerDigits::buckets);
    cleared_words = carver.used() / 4;
    next_track = carver.take<uint32_t>(kMaxTracks);
    candidates = carver.take<uint64_t>(most), slots = carver.take<uint64_t>(places);
    pending = carver.take<uint32_t>(most), rivals = carver.take<uint32_t>(most);
    accepted = carver.take<uint64_t>(most);
    bytes = carver.used();
  }
};

/// Grid of cells for a minimum distance.
struct CornerCells {
  int side, columns, rows;
  uint32_t places;  ///< number of places in one cell
  uint32_t reach;   ///< squared distance limit: corner_reach_squared()
  int radius;       ///< largest offset along one axis that is too close
};

}  // namespace lensd
