// Decoded pictures: what a decoder delivers, before colour conversion makes a working image of it.
//
// A PictureFormat describes where each component's samples are (planes, steps, shifts), so that one
// conversion covers planar, semi-planar and packed formats of 8 to 16 bits.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/device/memory_kind.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Where the samples of one component (Y/R, U/G, V/B, A) are.
struct ComponentLayout {
  uint8_t plane = 0;   ///< index into PictureRef::planes
  uint8_t step = 1;    ///< bytes from one sample of the row to the next
  uint8_t offset = 0;  ///< bytes from the row's start to the first sample
  uint8_t shift = 0;   ///< unused low bits of a 16-bit sample (6 for P010)
  bool operator==(const ComponentLayout&) const = default;
};

enum class ColourModel : uint8_t { gray, yuv, rgb };

/// Layout of a decoded picture. Samples of more than 8 bits are little-endian 16-bit words.
struct PictureFormat {
  ColourModel model = ColourModel::yuv;
  uint8_t depth = 8;                               ///< significant bits of a sample, 8 to 16
  uint8_t chroma_shift_x = 0, chroma_shift_y = 0;  ///< log2 of the chroma subsampling
  bool has_alpha = false;
  uint8_t plane_count = 1;
  std::array<ComponentLayout, 4> components{};  ///< Y U V A, or R G B A, or gray in [0]
  bool operator==(const PictureFormat&) const = default;
};

/// YCbCr matrix, as H.273 MatrixCoefficients.
enum class YuvMatrix : uint8_t { bt601, bt709, bt2020 };
enum class Range : uint8_t { limited, full };
/// Position of the chroma sample in its block of luma samples, as H.273 chroma location types 0 to 2.
enum class ChromaSiting : uint8_t { left, center, top_left };

struct ColourSpec {
  YuvMatrix matrix = YuvMatrix::bt601;
  Range range = Range::limited;
  ChromaSiting siting = ChromaSiting::left;
  bool guessed = false;  ///< the stream did not say; the usual guess by size was taken
  bool operator==(const ColourSpec&) const = default;
};

/// Turn that brings the stored picture upright: transposition first, then the flips.
struct Orientation {
  bool transpose = false, flip_x = false, flip_y = false;
  bool operator==(const Orientation&) const = default;
};

/// Everything that a plan depends on; a change of any member makes a new plan.
struct PictureInfo {
  PictureFormat format;
  Extent extent;  ///< as stored, before orientation
  ColourSpec colour;
  Orientation orientation;
  bool operator==(const PictureInfo&) const = default;

  /// Size of the upright picture.
  Extent upright() const { return orientation.transpose ? Extent{extent.height, extent.width} : extent; }
  /// Samples in a row of plane `p`, in bytes, and the plane's rows.
  size_t plane_row_bytes(int p) const;
  int plane_rows(int p) const;
};

/// Borrowed planes of a decoded picture. Pitches may be negative (bottom-up pictures).
struct PictureRef {
  PictureInfo info;
  std::array<const uint8_t*, 4> planes{};
  std::array<std::ptrdiff_t, 4> pitch_bytes{};
  MemoryKind memory = MemoryKind::host;
};

/// "yuv420 8-bit, bt601 limited (guessed), siting left".
std::string describe(const PictureInfo& info);

}  // namespace lensd
