// Converts rows of 16-bit samples to the levels that the scopes count, and adds up the vectorscope of
// 16-bit images, on the CPU.
#pragma once

#include <cstdint>

#include "core/image/view.hpp"
#include "kernels/scopes/scope_math.hpp"

namespace lensd {

/// Writes deep_bin() of the samples.
void deep_levels_row(const uint16_t* from, uint16_t* to, int samples);
/// Writes deep_bin() of luma16() of each RGBA16 pixel, or of each Gray16 sample.
void deep_luma_levels_row(const uint16_t* from, int channels, uint16_t* to, int pixels,
                          const LumaBlock& weights);

/// A worker's counters of the vectorscope of RGBA16. They are stored in tiles of 32×32 neighbouring colours,
/// and only tiles with pixels are cleared and added to the total, because most pictures have pixels in few
/// tiles.
struct DeepChromaTable {
  static constexpr int kTiles = 1024, kTileCounters = 1024;

  uint32_t count[kTiles * kTileCounters];
  bool used[kTiles];

  /// Returns the place of a pixel in `count`: tile row, tile column, row and column in the tile.
  static constexpr uint32_t place(uint32_t cb, uint32_t cr) {
    return (cr >> 5) << 15 | (cb >> 5) << 10 | (cr & 31) << 5 | (cb & 31);
  }

  void clear();
  /// Counts pixels, given by their places.
  void add(const uint32_t* places, int pixels);
  /// Adds the counters to the vectorscope `total`. Thread-safe.
  void add_to(uint32_t* total) const;
};

}  // namespace lensd
