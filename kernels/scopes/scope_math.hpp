#pragma once

#include <cstdint>

#include "core/graph/scope_request.hpp"
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
inline constexpr int kGreyIndex = 128 * 256 + 128;

}  // namespace lensd
