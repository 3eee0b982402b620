// blend: blends two inputs of the same size. For channel a of the first input and channel b of the second, f
// is
//
//   normal      b                        multiply    a·b/255
//   add         min(255, a + b)          difference  |a − b|
//   screen      255 − (255−a)(255−b)/255 mask        a·m/255
//
// For 16-bit images, 65535 replaces 255. m is the second input's BT.601 luma (colour) or value (grey). out =
// a + opacity·(f − a). Products are rounded to nearest. Opacity is fixed point in 1/256, and `out` is rounded
// half up. Alpha comes from the first input; the second's is ignored.
//
// Formats: all, both inputs alike. Aliasing: none. Border rule: none. Temporal reach: none. Exact.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/single_pass.hpp"

namespace lensd {

enum class BlendMode : uint8_t { normal, add, screen, multiply, difference, mask };

struct BlendParams {
  BlendMode mode = BlendMode::normal;
  double opacity = 1;
};

struct BlendBlock {
  BlendMode mode;
  uint16_t opacity_q8;  ///< opacity in 1/256, from 0 to 256
  static BlendBlock make(const BlendParams& p) {
    return {p.mode, static_cast<uint16_t>(std::lround(p.opacity * 256))};
  }
};

/// Returns v / 255, rounded. Exact for v up to 255².
LENSD_HD constexpr uint32_t divided_by_255(uint32_t v) {
  const uint32_t t = v + 128;
  return (t + (t >> 8)) >> 8;
}

/// Returns the mode's result for `a` and `b`, before opacity. For `mask`, `b` is m of the second pixel.
LENSD_HD constexpr uint32_t blended(BlendMode mode, uint32_t a, uint32_t b) {
  switch (mode) {
    case BlendMode::normal:
      return b;
    case BlendMode::add:
      return a + b < 255 ? a + b : 255;
    case BlendMode::screen:
      return 255 - divided_by_255((255 - a) * (255 - b));
    case BlendMode::multiply:
    case BlendMode::mask:
      return divided_by_255(a * b);
    case BlendMode::difference:
      return a > b ? a - b : b - a;
  }
  return a;
}

/// Blends `f` over `a`: opacity 256 returns f, opacity 0 returns a.
LENSD_HD constexpr uint32_t faded(uint32_t a, uint32_t f, uint32_t opacity_q8) {
  return (a * (256 - opacity_q8) + f * opacity_q8 + 128) >> 8;
}

/// Returns v / 65535, rounded. Exact for v up to 65535².
LENSD_HD constexpr uint32_t divided_by_65535(uint32_t v) {
  const uint32_t t = v + 32768;
  return (t + (t >> 16)) >> 16;
}

/// Computes blended() for 16-bit samples.
LENSD_HD constexpr uint32_t deep_blended(BlendMode mode, uint32_t a, uint32_t b) {
  switch (mode) {
    case BlendMode::normal:
      return b;
    case BlendMode::add:
      return a + b < 65535 ? a + b : 65535;
    case BlendMode::screen:
      return 65535 - divided_by_65535((65535 - a) * (65535 - b));
    case BlendMode::multiply:
    case BlendMode::mask:
      return divided_by_65535(a * b);
    case BlendMode::difference:
      return a > b ? a - b : b - a;
  }
  return a;
}

// blended() and faded() of two 8-bit samples, one in each 16-bit half of a word. No intermediate result
// exceeds 16 bits.

inline constexpr uint32_t kPair = 0x00010001u;

LENSD_HD constexpr uint32_t pair_product(uint32_t a, uint32_t b) {
  return (a & 0xffff) * (b & 0xffff) | (a >> 16) * (b >> 16) << 16;
}

LENSD_HD constexpr uint32_t pair_divided_by_255(uint32_t v) {
  const uint32_t t = v + 128 * kPair;
  return (t + (t >> 8 & 255 * kPair)) >> 8 & 255 * kPair;
}

LENSD_HD constexpr uint32_t pair_difference(uint32_t a, uint32_t b) {
  const uint32_t t = a + 256 * kPair - b;            // bit 8: a >= b
  const uint32_t positive = (t >> 8 & kPair) * 255;  // 255 where bit 8 is set
  const uint32_t low = t & 255 * kPair;
  return (low & positive) | ((256 * kPair - low) & (255 * kPair ^ positive));
}

LENSD_HD constexpr uint32_t pair_blended(BlendMode mode, uint32_t a, uint32_t b) {
  switch (mode) {
    case BlendMode::normal:
      return b;
    case BlendMode::add: {
      const uint32_t sum = a + b, beyond = sum >> 8 & kPair;
      return (sum | beyond * 255) & 255 * kPair;
    }
    case BlendMode::screen:
      return 255 * kPair - pair_divided_by_255(pair_product(255 * kPair - a, 255 * kPair - b));
    case BlendMode::multiply:
    case BlendMode::mask:
      return pair_divided_by_255(pair_product(a, b));
    case BlendMode::difference:
      return pair_difference(a, b);
  }
  return a;
}

LENSD_HD constexpr uint32_t pair_faded(uint32_t a, uint32_t f, uint32_t opacity_q8) {
  return (a * (256 - opacity_q8) + f * opacity_q8 + 128 * kPair) >> 8 & 255 * kPair;
}

class Blend final : public SinglePass<Blend, BlendParams, BlendBlock> {
 public:
  static constexpr PassCost cost{.bytes = 3, .operations = 4};

  static FilterSchema make_schema();
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void apply_deep(const PassArgs& args, Band band) const;
  void reference(ReferenceRun& run) const override;
};

}  // namespace lensd
