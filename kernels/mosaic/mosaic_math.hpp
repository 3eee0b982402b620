#pragma once

#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

inline constexpr int kMosaicMaxBlock = 256;

struct MosaicParams {
  int block = 16;
};

struct MosaicBlock {
  int32_t block;
  static MosaicBlock make(const MosaicParams& params) { return {params.block}; }
};

/// The frame's exact channel sums; grey has only the first.
struct MosaicStats {
  unsigned long long sums[3];
};

/// Rounded mean of `count` samples; 256² of them fit 32 bits.
LENSD_HD constexpr uint32_t rounded_mean(uint32_t sum, uint32_t count) {
  return (sum + count / 2) / count;
}

}  // namespace lensd
