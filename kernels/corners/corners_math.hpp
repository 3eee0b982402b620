// Arithmetic shared by both backends and the oracle of the corner detector.
//
// A structure tensor is three exact integers: s = Σ dx² + dy², a = Σ dx², b = Σ dx·dy. Its smallest
// eigenvalue is (s − r) / 2 with r² = (2a − s)² + (2b)². The form (s² − r²) / (2 (s + r)) avoids
// cancellation: the numerator is an exact integer, so a straight edge has the eigenvalue 0.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

/// Maximum of CornerParams::block. Sums stay below 2^31: dx² + dy² is at most 1 300 500.
inline constexpr int kCornerMaxBlock = 31;

/// Returns true if the squares of a block's sums are below 2^53 and therefore exact in double.
LENSD_HD constexpr bool corner_is_narrow(int block, bool deep) {
  return block <= 7 && !deep;
}

/// Returns the number of fraction bits of the pixels of 16-bit images: as many as fit in the 16 bits of the
/// gradients and the 32 bits of 2·Σ dx²; 5 for small blocks, down to 0 for large ones. In grey levels, dx² is
/// at most 1 040 400.
LENSD_HD constexpr int corner_fraction_bits(int block) {
  int bits = 5;
  while (bits > 0 && (int64_t{2 * 1040400} * block * block) << (2 * bits) >= int64_t{1} << 31) --bits;
  return bits;
}
/// Rounds a pixel with 7 fraction bits to `bits`, at most 5.
LENSD_HD constexpr int corner_rounded(int pixel, int bits) {
  return (pixel + (64 >> bits)) >> (7 - bits);
}

/// Returns the smallest eigenvalue of the structure tensor (s, a, b).
LENSD_HD inline float corner_eigenvalue(int32_t s, int32_t a, int32_t b) {
  if (s == 0) return 0;
  const int32_t d = 2 * a - s, e = 2 * b;
  const int64_t square = int64_t{s} * s - int64_t{d} * d - int64_t{e} * e;
  const float fd = static_cast<float>(d), fe = static_cast<float>(e);
  const float r = std::sqrt(fd * fd + fe * fe);
  return 0.5f * static_cast<float>(static_cast<double>(square)) / (static_cast<float>(s) + r);
}

/// Mask of the position in a sort key. A key has 31 bits of strength, then 28 bits of position. Stronger
/// candidates have larger keys. For equal strengths, candidates with smaller y, then smaller x, have larger
/// keys. A key is nonzero if the strength is above 0.
inline constexpr uint64_t kCornerPosition = (1u << 28) - 1;
LENSD_HD constexpr uint64_t corner_key(uint32_t strength, int x, int y) {
  return static_cast<uint64_t>(strength) << 28 |
         (kCornerPosition - (static_cast<uint64_t>(y) << 14 | static_cast<uint64_t>(x)));
}
LENSD_HD constexpr uint32_t corner_key_strength(uint64_t key) {
  return static_cast<uint32_t>(key >> 28);
}
LENSD_HD constexpr int corner_key_x(uint64_t key) {
  return static_cast<int>((kCornerPosition - (key & kCornerPosition)) & 0x3fff);
}
LENSD_HD constexpr int corner_key_y(uint64_t key) {
  return static_cast<int>((kCornerPosition - (key & kCornerPosition)) >> 14);
}

/// Returns min_distance² rounded up. Two pixels are too close if dx² + dy² is below the result.
LENSD_HD inline uint32_t corner_reach_squared(float min_distance) {
  if (!(min_distance > 0)) return 0;
  const double d = min_distance < 32767 ? static_cast<double>(min_distance) : 32767.0;
  const double square = d * d;  // exact: d has 24 significant bits
  const auto whole = static_cast<uint32_t>(square);
  return static_cast<double>(whole) < square ? whole + 1 : whole;
}

/// Returns the pixel in [0, n) nearest to a track's coordinate; halves round up.
LENSD_HD inline int corner_pixel(float v, int n) {
  if (!(v > 0)) return 0;
  if (v >= static_cast<float>(n - 1)) return n - 1;
  return static_cast<int>(v + 0.5f);
}

/// Buckets of strengths, used to select the strongest corners without sorting all of them.
struct CornerBuckets {
  static constexpr int count = 4096;
  /// Returns the bucket of a strength ≤ `strongest`: 0 for the strongest, 64 buckets per octave.
  LENSD_HD static int of(uint32_t strength, uint32_t strongest) {
    const auto i = static_cast<int>((strongest >> 17) - (strength >> 17));
    return i < count ? i : count - 1;
  }
};

}  // namespace lensd
