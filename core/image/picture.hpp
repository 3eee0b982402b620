// Decoded pictures, before colour conversion to a working image.
//
// A PictureFormat describes the position of each component's samples (plane, step, shift), so that one
// conversion handles planar, semi-planar and packed formats of 8 to 16 bits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/device/memory_kind.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Position of the samples of one component (Y/R, U/G, V/B, A).
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
  std::array<ComponentLayout, 4> components{};  ///< Y U V A, or R G B A, or grey in [0]
  bool operator==(const PictureFormat&) const = default;
};

/// YCbCr matrix; see MatrixCoefficients in H.273.
enum class YuvMatrix : uint8_t { bt601, bt709, bt2020 };
enum class Range : uint8_t { limited, full };
/// Position of the chroma sample in its block of luma samples, as H.273 chroma location types 0 to 2.
enum class ChromaSiting : uint8_t { left, center, top_left };

/// Transfer function; see TransferCharacteristics in H.273. `srgb`: IEC 61966-2-1. `sdr`: all other SDR
/// functions; lensd does not distinguish them. `linear`: samples are proportional to light; full scale is SDR
/// white.
enum class Transfer : uint8_t { sdr, pq, hlg, linear, srgb };
constexpr bool is_hdr(Transfer transfer) {
  return transfer == Transfer::pq || transfer == Transfer::hlg;
}
constexpr bool is_sdr(Transfer transfer) {
  return transfer == Transfer::sdr || transfer == Transfer::srgb;
}
/// Colour primaries; see ColourPrimaries in H.273. `bt709`: also unknown ones. `p3`: Display P3. `bt601_525`:
/// SMPTE 170M and 240M. `bt601_625`: BT.470 BG.
enum class Primaries : uint8_t { bt709, bt2020, p3, bt601_525, bt601_625 };

constexpr bool is_wide(Primaries primaries) {
  return primaries == Primaries::bt2020 || primaries == Primaries::p3;
}
constexpr bool is_bt601(Primaries primaries) {
  return primaries == Primaries::bt601_525 || primaries == Primaries::bt601_625;
}

/// Marks values that the stream does not specify. The matrix is then guessed from the picture's size; the
/// others are defaults. `primaries` is set only if the default is not BT.709. `icc`: the picture has an ICC
/// profile, which lensd ignores. For display. All objects compare equal, because no plan depends on them.
struct Guessed {
  bool matrix = false, range = false, primaries = false, peak = false, icc = false;
  constexpr bool operator==(const Guessed&) const { return true; }
};

/// The stream's code points of H.273, for the tags of recordings of the source. They distinguish more values
/// than Transfer and Primaries. 2: unspecified. `present`: the other members are known. All objects compare
/// equal, because no plan depends on them.
struct CodePoints {
  bool present = false;
  uint8_t matrix = 2, transfer = 2, primaries = 2;
  constexpr bool operator==(const CodePoints&) const { return true; }
};

/// The properties of working images with which outputs are tagged.
struct ColourTags {
  Transfer transfer = Transfer::sdr;
  std::optional<Primaries> primaries = {};  ///< nullopt: unknown
  bool alpha = false;                       ///< the source has transparency
  bool operator==(const ColourTags&) const = default;
};

/// Returns the matrix that players assume for untagged pictures of this size.
constexpr YuvMatrix usual_matrix(Extent extent) {
  return extent.height > 576 || extent.width > 1024 ? YuvMatrix::bt709 : YuvMatrix::bt601;
}

struct ColourSpec {
  YuvMatrix matrix = YuvMatrix::bt601;
  Range range = Range::limited;
  ChromaSiting siting = ChromaSiting::left;
  Transfer transfer = Transfer::sdr;
  Primaries primaries = Primaries::bt709;
  uint16_t peak = 0;  ///< PQ: the brightest luminance in cd/m², announced by the source or a default; else 0
  bool keep = false;  ///< HDR and wide-gamut colours are not converted
  Guessed guessed;
  CodePoints coded;
  bool operator==(const ColourSpec&) const = default;

  /// Returns true if the conversion to SDR and BT.709 changes these colours, unless `keep` is set. `bt601`:
  /// ColourSettings::bt601.
  bool converted(bool bt601) const {
    return !is_sdr(transfer) || is_wide(primaries) || (bt601 && is_bt601(primaries));
  }
  /// Returns the colours of the working images that are made from the picture. `bt601`: see converted().
  ColourTags working(bool bt601) const;
};

/// Transformation of the stored picture to the upright one: transposition, then flips.
struct Orientation {
  bool transpose = false, flip_x = false, flip_y = false;
  bool operator==(const Orientation&) const = default;
};

/// Marks a picture whose rows alternate between two fields. All objects compare equal, because streams may
/// mix interlaced and progressive pictures, and no plan depends on the mark; only captured CUDA graphs do.
struct Interlaced {
  bool value = false;
  constexpr bool operator==(const Interlaced&) const { return true; }
};

/// The properties of a picture that a plan depends on. A change of any member except `interlaced`
/// requires a new plan.
struct PictureInfo {
  PictureFormat format;
  Extent extent;  ///< stored size, before orientation
  ColourSpec colour;
  Orientation orientation;
  Interlaced interlaced;
  bool operator==(const PictureInfo&) const = default;

  /// Returns true if the chroma rows alternate between the two fields, as in interlaced 4:2:0 (H.262,
  /// 6.1.1.8). Returns false for pictures that are transposed or flipped vertically, and for heights that are
  /// not a multiple of 4, which interlaced 4:2:0 video does not have.
  bool has_field_chroma() const;

  /// Returns the colours and the transparency of the working images that are made from the picture. `bt601`:
  /// ColourSettings::bt601.
  ColourTags working(bool bt601) const;
  /// Returns the size of the upright picture.
  Extent upright() const { return orientation.transpose ? Extent{extent.height, extent.width} : extent; }
  /// Returns the number of bytes in a row of plane `p`, without padding.
  size_t plane_row_bytes(int p) const;
  /// Returns the number of rows of plane `p`.
  int plane_rows(int p) const;
};

/// Planes of a decoded picture, not owned. Pitches are negative for bottom-up pictures.
struct PictureRef {
  PictureInfo info;
  std::array<const uint8_t*, 4> planes{};
  std::array<std::ptrdiff_t, 4> pitch_bytes{};
  MemoryKind memory = MemoryKind::host;
};

/// Returns a description, for example "yuv420 8-bit, bt601 limited (guessed), siting left".
std::string describe(const PictureInfo& info);

}  // namespace lensd
