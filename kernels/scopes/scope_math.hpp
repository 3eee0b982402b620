#pragma once

#include <cstdint>

#include "core/graph/scope_request.hpp"
#include "kernels/grayscale/grayscale_math.hpp"

namespace lensd {

/// Not for the user: the matrix follows the source's colour description.
struct ScopeParams {
  LumaWeights matrix = LumaWeights::bt601;
};

/// Weights in 1/32768; those of a colour difference sum to 0, so that every grey gives 128.
struct ScopeBlock {
  LumaBlock luma, cb, cr;

  static constexpr ScopeBlock make(const ScopeParams& p) {
    const LumaBlock y = LumaBlock::make(p.matrix);
    if (p.matrix == LumaWeights::bt709) return {y, {-3754, -12630, 16384, 0}, {16384, -14882, -1502, 0}};
    return {y, {-5529, -10855, 16384, 0}, {16384, -13720, -2664, 0}};
  }
};

/// A colour difference in full range, 128 for none. Only pure blue or red would round to 256.
LENSD_HD constexpr int colour_difference(const LumaBlock& w, int r, int g, int b) {
  const int value = (w.r * r + w.g * g + w.b * b + (128 << 15) + (1 << 14)) >> 15;
  return value < 255 ? value : 255;
}

/// Place of a pixel in the vectorscope's counts.
LENSD_HD constexpr int chroma_index(const ScopeBlock& block, int r, int g, int b) {
  return colour_difference(block.cr, r, g, b) * 256 + colour_difference(block.cb, r, g, b);
}
inline constexpr int kGreyIndex = 128 * 256 + 128;

}  // namespace lensd
