// The ordered dither of outputs with 8 bits.
#pragma once

namespace lensd {

/// Returns the value from 0 to 1 that is added to a sample before it is rounded down: an 8×8 matrix of B. E.
/// Bayer, "An optimum method for two-level rendition of continuous-tone pictures", ICC 1973. Its mean is 0.5,
/// so that areas keep their mean.
constexpr float dither_threshold(int x, int y) {
  int rank = 0;
  for (int bit = 0; bit < 3; ++bit) {
    const int column = x >> bit & 1, row = y >> bit & 1;
    rank |= ((column ^ row) << 1 | row) << (2 * (2 - bit));
  }
  return (static_cast<float>(rank) + 0.5f) / 64;
}

}  // namespace lensd
