// The row loop of bilateral on the CPU.
#pragma once

#include "kernels/bilateral/bilateral_math.hpp"

namespace lensd {

/// The disc without its centre by distance: points at the same distance weigh alike and are even in number.
struct alignas(64) BilateralRings {
  static constexpr int kMost = 43;  ///< distances in a disc of kBilateralMaxRadius

  struct Ring {
    int first, count;             ///< of taps
    int32_t space;                ///< Tap::weight
    uint8_t low[256], high[256];  ///< bilateral_weight by difference of value, as two bytes
  };

  int count;  ///< of rings
  bool near;  ///< differences of 127 and more weigh nothing
  BilateralBlock::Tap taps[kBilateralMaxTaps];
  Ring rings[kMost];

  void make(const BilateralBlock& block);
};

/// A row of `n` bytes. taps[i] points at the neighbour of byte 0 that rings.taps[i] says. Rows may be read a
/// vector beyond.
void bilateral_row(const uint8_t* centre, const uint8_t* const* taps, const BilateralBlock& block,
                   const BilateralRings& rings, uint8_t* out, size_t n);

}  // namespace lensd
