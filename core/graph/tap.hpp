// Scopes: measurements of the image that a node gives, for people who judge pictures by numbers.
//
//   Tap {node, kind} ── make_plan() ──▶ an automatic node whose counts lie in its statistics
//   executor ── read_scope(tap) ──▶ ScopeReading ── panel
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
  }
  return "";
}

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
  }
  return 0;
}

/// The matrix by which luma and colour differences are weighted, BT.601 or BT.709, for pictures of that kind.
constexpr YuvMatrix scope_matrix(const PictureInfo& picture) {
  return picture.colour.matrix == YuvMatrix::bt601 ? YuvMatrix::bt601 : YuvMatrix::bt709;
}

/// A request to measure. `node` is a node's id, "source", or empty for whatever the graph puts out.
struct Tap {
  std::string node;
  ScopeKind kind = ScopeKind::histogram;
  bool operator==(const Tap&) const = default;
};

/// The newest finished counts of a tap.
struct ScopeReading {
  Tap tap;
  int64_t frame = -1;  ///< index of the frame measured; -1: nothing was read yet
  ImageFormat image;   ///< of the node
  YuvMatrix matrix = YuvMatrix::bt601;
  std::vector<uint32_t> counts;  ///< laid out as the kind says
};

}  // namespace lensd
