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

/// Weights in 1/32768. The weights of a colour difference sum to 0, so greys have the middle level.
struct ScopeBlock {
  LumaBlock luma, cb, cr;

  static constexpr ScopeBlock make(const ScopeParams& p) {
    const LumaBlock y = LumaBlock::make(p.matrix);
    if (p.matrix == LumaWeights::bt709) return {y, {-3754, -12630, 16384, 0}, {16384, -14882, -1502, 0}};
    return {y, {-5529, -10855, 16384, 0}, {16384, -13720, -2664, 0}};
  }
};

// A colour difference d, from −0.5 to 0.5 of white, has the level round(levels / 2 + (levels − 1) · d). With
// 256 levels, grey is 128; with 1024 levels, grey is 512. Pure blue or red would round to `levels`, so the
// level is clamped to levels − 1.

/// Returns the level, 0 to 255, of a colour difference of 8-bit samples.
LENSD_HD constexpr int colour_difference(const LumaBlock& w, int r, int g, int b) {
  const int value = (w.r * r + w.g * g + w.b * b + (128 << 15) + (1 << 14)) >> 15;
  return value < 255 ? value : 255;
}

/// Returns the index of a pixel with 8-bit samples in the vectorscope's counts.
LENSD_HD constexpr int chroma_index(const ScopeBlock& block, int r, int g, int b) {
  return colour_difference(block.cr, r, g, b) * 256 + colour_difference(block.cb, r, g, b);
}

/// Returns n / 65535, rounded down, for n below 2^31.
LENSD_HD constexpr int over_65535(uint32_t n) {
  return static_cast<int>((n + (n >> 16) + 1) >> 16);
}

/// Returns the 16-bit sample as 10 bits, rounded to nearest.
LENSD_HD constexpr int deep_bin(uint32_t v) {
  return over_65535(v * 1023 + 32767);
}

/// Returns the level, 0 to 1023, of a colour difference of 16-bit samples. It is computed from all 16 bits
/// and rounded once.
LENSD_HD constexpr int deep_colour_difference(const LumaBlock& w, int r, int g, int b) {
  const int sum = w.r * r + w.g * g + w.b * b;  // d · 65535 · 2^15, at most 2^30 in magnitude
  // Computes (1023 · sum + 512.5 · 65535 · 2^15) / 2^15 in 32 bits, rounded down. It is positive.
  const int scaled = 1023 * (sum >> 15) + ((1023 * (sum & 32767) + (1 << 14)) >> 15) + 1025 * 65535 / 2;
  const int value = over_65535(static_cast<uint32_t>(scaled));
  return value < 1023 ? value : 1023;
}

/// Returns the index of a grey pixel in the vectorscope's counts.
LENSD_HD constexpr int grey_index(int levels) {
  return levels / 2 * levels + levels / 2;
}

/// Number of levels of samples of type S; see scope_levels().
template <class S>
inline constexpr int kScopeLevels = sizeof(S) == 1 ? 256 : 1024;

}  // namespace lensd
