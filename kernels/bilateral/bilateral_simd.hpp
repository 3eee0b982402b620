// The SIMD loop of the bilateral filter on the CPU.
#pragma once

#include "kernels/bilateral/bilateral_math.hpp"

namespace lensd {

/// The taps of a disc without its centre, grouped into rings of equal distance and weight. Each ring has an
/// even number of taps.
struct alignas(64) BilateralRings {
  static constexpr int kMaxRings = 43;  ///< number of distinct distances in a disc of kBilateralMaxRadius

  struct Ring {
    int first, count;             ///< first tap and number of taps
    int32_t space;                ///< spatial weight, see Tap::weight
    uint8_t low[256], high[256];  ///< low and high byte of bilateral_weight() by difference of value
  };

  int count;  ///< number of rings
  bool near;  ///< true if all differences of 127 or more have weight 0
  BilateralBlock::Tap taps[kBilateralMaxTaps];
  Ring rings[kMaxRings];

  void make(const BilateralBlock& block);
};

/// Filters `n` bytes of a row. taps[i] points to the neighbour of byte 0 at offset rings.taps[i]. May read up
/// to one vector beyond the end of a row.
void bilateral_row(const uint8_t* centre, const uint8_t* const* taps, const BilateralBlock& block,
                   const BilateralRings& rings, uint8_t* out, size_t n);

}  // namespace lensd
