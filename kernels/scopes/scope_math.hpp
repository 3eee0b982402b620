#pragma once

#include <cstdint>

#include "core/graph/scope_request.hpp"
#include "kernels/common/samples.hpp"
#include "kernels/grayscale/grayscale.hpp"

namespace lensd {

/// Parameters of scopes and compare. Set from the source's colour description, not by the user.
struct ScopeParams {
  LumaWeights matrix = LumaWeights::bt601;

  /// Sets `matrix` from the colour description of `picture`. Does nothing if `picture` is null.
  void follow(const PictureInfo* picture) {
    if (picture)
      matrix = scope_matrix(*picture) == YuvMatrix::bt601 ? LumaWeights::bt601 : LumaWeights::bt709;
  }
};

/// Weights in 1/32768. The weights of a colour difference sum to 0, so that greys have the value 128.
struct ScopeBlock {
  LumaBlock luma, cb, cr;

  static constexpr ScopeBlock make(const ScopeParams& p) {
    const LumaBlock y = LumaBlock::make(p.matrix);
    if (p.matrix == LumaWeights::bt709) return {y, {-3754, -12630, 16384, 0}, {16384, -14882, -1502, 0}};
    return {y, {-5529, -10855, 16384, 0}, {16384, -13720, -2664, 0}};
  }
};

/// Returns a colour difference in full range; 128 is grey. Clamped, since pure blue or red would round to
/// 256.
LENSD_HD constexpr int colour_difference(const LumaBlock& w, int r, int g, int b) {
  const int value = (w.r * r + w.g * g + w.b * b + (128 << 15) + (1 << 14)) >> 15;
  return value < 255 ? value : 255;
}

/// Returns the index of a pixel in the vectorscope's counts.
LENSD_HD constexpr int chroma_index(const ScopeBlock& block, int r, int g, int b) {
  return colour_difference(block.cr, r, g, b) * 256 + colour_difference(block.cb, r, g, b);
}

/// Returns the 16-bit sample as 10 bits, rounded to nearest.
LENSD_HD constexpr int deep_bin(uint32_t v) {
  const uint32_t n = v * 1023 + 32767;
  return static_cast<int>((n + (n >> 16) + 1) >> 16);  // n / 65535
}

/// Does the same as colour_difference() for 16-bit samples, rounded once to 0 … 255. The sum is positive and
/// below 2^32 − 2^30.
LENSD_HD constexpr uint32_t deep_colour_difference(const LumaBlock& w, uint32_t r, uint32_t g, uint32_t b) {
  const uint32_t sum = static_cast<uint32_t>(w.r) * r + static_cast<uint32_t>(w.g) * g +
                       static_cast<uint32_t>(w.b) * b + 257u * ((128u << 15) + (1u << 14));
  const uint32_t value = sum >> 15;
  return (value < 65535 ? value : 65535) * 65281 >> 24;  // a division by 257
}

/// Does the same as chroma_index() for 16-bit samples.
LENSD_HD constexpr int deep_chroma_index(const ScopeBlock& block, uint32_t r, uint32_t g, uint32_t b) {
  return static_cast<int>(deep_colour_difference(block.cr, r, g, b) << 8 |
                          deep_colour_difference(block.cb, r, g, b));
}

inline constexpr int kGreyIndex = 128 * 256 + 128;

}  // namespace lensd
