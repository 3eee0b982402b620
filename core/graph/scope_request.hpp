// Scopes (histogram, waveform, parade, vectorscope, comparison) of a node's image.
//
//   ScopeRequest {node, kind} ── make_plan() ──▶ an automatic node with counts as its statistics
//   executor ── read_scope(scope) ──▶ ScopeReading ── panel
//
// All counts are exact. Plain values; copy freely between threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/image/picture.hpp"

namespace lensd {

/// What a scope counts, and the layout of its counters. Luma (Y) is the value of grey images, else the
/// weighted sum of R, G and B. `levels` is scope_levels() of the image: 8-bit values are counted as they are,
/// 16-bit values are rounded to 10 bits.
enum class ScopeKind : uint8_t {
  histogram,    ///< [4][levels]: pixels by value of R, G, B, Y; grey fills Y only
  waveform,     ///< [column][levels]: pixels of each column by value of Y
  parade,       ///< [3][column][levels]: pixels of each column by value of R, G, B; grey fills all three
  vectorscope,  ///< [levels][levels]: pixels by Cr, then Cb; levels / 2 is grey
  compare,      ///< a Comparison as uint32_t words; the other node's image must have the same size
};

constexpr const char* name(ScopeKind kind) {
  constexpr const char* kNames[] = {"histogram", "waveform", "parade", "vectorscope", "compare"};
  return kNames[static_cast<size_t>(kind)];
}

/// The difference of two images. All sums are exact, so both backends return the same numbers.
struct Comparison {
  uint64_t squares[3] = {};  ///< sums of squared differences of R, G and B; grey fills the first
  uint64_t samples = 0;      ///< number of differences in each sum
  int64_t ssim_q24 = 0;      ///< sum of the luma's structural similarity over all windows, times 2^24
  uint64_t windows = 0;      ///< number of 8×8 windows, one every 4 pixels; 0 if a side is below 8 pixels
  uint64_t channels = 0;     ///< number of compared channels: 1 or 3
  uint64_t white = 0;        ///< largest value of a sample: 255 or 65535

  /// Returns the peak signal-to-noise ratio over all channels in dB; infinite for equal images.
  double psnr() const;
  /// Returns the mean structural similarity; NaN without windows. Source: Wang, Bovik, Sheikh, Simoncelli,
  /// "Image quality assessment: from error visibility to structural similarity", 2004, with uniform 8×8
  /// windows.
  double ssim() const;
};

/// Waveform and parade have at most this number of columns. In wider images a scope column covers
/// width / kScopeColumns pixel columns, rounded up or down.
inline constexpr int kScopeColumns = 256;
LENSD_HD constexpr int scope_columns(int width) {
  return width < kScopeColumns ? width : kScopeColumns;
}
/// Returns the x coordinate of the first pixel of scope column `column`. For the column after the last one,
/// returns `width`.
LENSD_HD constexpr int scope_column_begin(int column, int width) {
  const int columns = scope_columns(width);
  return (column * width + columns - 1) / columns;
}

/// Returns the number of levels that scopes distinguish in images in `format`.
constexpr int scope_levels(PixelFormat format) {
  return sample_bytes(format) == 2 ? 1024 : 256;
}

/// Returns the number of counters of a scope, for images of this format.
constexpr size_t scope_counts(ScopeKind kind, const ImageFormat& image) {
  const auto columns = static_cast<size_t>(scope_columns(image.extent.width));
  const auto levels = static_cast<size_t>(scope_levels(image.format));
  switch (kind) {
    case ScopeKind::histogram:
      return 4 * levels;
    case ScopeKind::waveform:
      return columns * levels;
    case ScopeKind::parade:
      return 3 * columns * levels;
    case ScopeKind::vectorscope:
      return levels * levels;
    case ScopeKind::compare:
      return sizeof(Comparison) / sizeof(uint32_t);
  }
  return 0;
}

/// Returns the matrix for luma and colour differences: BT.601 if the picture has it, else BT.709. RGB and
/// grey pictures get the usual one for their size.
constexpr YuvMatrix scope_matrix(const PictureInfo& picture) {
  if (picture.format.model != ColourModel::yuv) return usual_matrix(picture.extent);
  return picture.colour.matrix == YuvMatrix::bt601 ? YuvMatrix::bt601 : YuvMatrix::bt709;
}

/// `node` is a node's id, "source", or empty for the graph's output.
struct ScopeRequest {
  std::string node;
  ScopeKind kind = ScopeKind::histogram;
  std::string other = {};  ///< compare: the second node, in the same form as `node`
  bool operator==(const ScopeRequest&) const = default;
};

/// The newest finished counts of a scope.
struct ScopeReading {
  ScopeRequest scope;
  int64_t frame = -1;  ///< FrameInfo::index; -1: nothing was read yet
  ImageFormat image;   ///< format of the measured node's image
  YuvMatrix matrix = YuvMatrix::bt601;
  std::vector<uint32_t> counts;  ///< see ScopeKind

  /// Returns the counts of a scope of kind compare; all 0 for other kinds.
  Comparison comparison() const;
};

}  // namespace lensd
