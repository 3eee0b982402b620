#pragma once

#include "core/image/view.hpp"

namespace lensd {

inline constexpr int kMedianMaxRadius = 25;
inline constexpr int kMedianNetworkRadius = 2;  ///< largest radius that networks compute
/// Largest radius computed by merged columns. Larger radii use tiles, or ranks for 16-bit images.
inline constexpr int kMedianMergeRadius = 3;
inline constexpr int kMedianTileRows = 16;  ///< rows of a tile on the CPU
/// Minimum rows of a tile of ranks on the CPU. Only the last tile may have fewer.
inline constexpr int kMedianRankRows = 32;

struct MedianParams {
  int radius = 1;
  Border border = Border::replicate;
};

struct MedianBlock {
  Border border;
  static MedianBlock make(const MedianParams& params) { return {params.border}; }
};

}  // namespace lensd
