// Scopes: measurements of the image that a node gives, for people who judge pictures by numbers.
//
//   ScopeRequest {node, kind} ── make_plan() ──▶ an automatic node whose counts lie in its statistics
//   executor ── read_scope(scope) ──▶ ScopeReading ── panel
//
// All counts are exact numbers of pixels. Plain values; copy freely between threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/image/picture.hpp"

namespace lensd {

/// What is counted. Luma (Y) is the grey value of Gray8 images, else the weighted sum of R, G and B.
enum class ScopeKind : uint8_t {
  histogram,    ///< [4][256]: R, G, B, Y by value; Gray8 has Y alone
  waveform,     ///< [column][256]: Y by value in each column
  parade,       ///< [3][column][256]: R, G, B by value in each column; Gray8 counts its value in all three
  vectorscope,  ///< [256][256]: by Cr, then Cb; 128 is grey
  compare,      ///< the words of a Comparison with another node's image of the same size
};

constexpr const char* name(ScopeKind kind) {
  switch (kind) {
    case ScopeKind::histogram:
      return "histogram";
    case ScopeKind::waveform:
      return "waveform";
    case ScopeKind::parade:
      return "parade";
    case ScopeKind::vectorscope:
      return "vectorscope";
    case ScopeKind::compare:
      return "compare";
  }
  return "";
}

/// How far two images are apart. All sums are exact, so both backends give the same numbers.
struct Comparison {
  uint64_t squares[3] = {};  ///< sums of squared differences of R, G and B; Gray8 has the first
  uint64_t samples = 0;      ///< differences in each of these sums
  int64_t ssim_q24 = 0;      ///< sum of the windows' structural similarity of luma, in 2^-24
  uint64_t windows = 0;      ///< 8×8, every 4 pixels; none in images of fewer than 8 pixels a side
  uint64_t channels = 0;     ///< 1 or 3

  /// Peak signal-to-noise ratio over all channels in dB; infinite for equal images.
  double psnr() const;
  /// Mean structural similarity; not a number without windows. Source: Wang, Bovik, Sheikh, Simoncelli, Image
  /// quality assessment: from error visibility to structural similarity, 2004, here with uniform 8×8 windows.
  double ssim() const;
};

/// Columns of waveform and parade hold equal shares of the image's width, one pixel at least.
inline constexpr int kScopeColumns = 256;
LENSD_HD constexpr int scope_columns(int width) {
  return width < kScopeColumns ? width : kScopeColumns;
}
/// The first pixel of a column; column scope_columns(width) begins at the width.
LENSD_HD constexpr int scope_column_begin(int column, int width) {
  const int columns = scope_columns(width);
  return (column * width + columns - 1) / columns;
}

/// Counters of a kind for images of that width.
constexpr size_t scope_counts(ScopeKind kind, int width) {
  switch (kind) {
    case ScopeKind::histogram:
      return 4 * 256;
    case ScopeKind::waveform:
      return static_cast<size_t>(scope_columns(width)) * 256;
    case ScopeKind::parade:
      return static_cast<size_t>(scope_columns(width)) * 256 * 3;
    case ScopeKind::vectorscope:
      return 256 * 256;
    case ScopeKind::compare:
      return sizeof(Comparison) / sizeof(uint32_t);
  }
  return 0;
}

/// The matrix by which luma and colour differences are weighted, BT.601 or BT.709, for pictures of that kind.
constexpr YuvMatrix scope_matrix(const PictureInfo& picture) {
  return picture.colour.matrix == YuvMatrix::bt601 ? YuvMatrix::bt601 : YuvMatrix::bt709;
}

/// A request to measure. `node` is a node's id, "source", or empty for whatever the graph puts out.
struct ScopeRequest {
  std::string node;
  ScopeKind kind = ScopeKind::histogram;
  std::string other = {};  ///< compare: the second node, named in the same way
  bool operator==(const ScopeRequest&) const = default;
};

/// The newest finished counts of a scope.
struct ScopeReading {
  ScopeRequest scope;
  int64_t frame = -1;  ///< index of the frame measured; -1: nothing was read yet
  ImageFormat image;   ///< of the node
  YuvMatrix matrix = YuvMatrix::bt601;
  std::vector<uint32_t> counts;  ///< laid out as the kind says

  /// Of a reading of kind compare.
  Comparison comparison() const;
};

}  // namespace lensd
