// Row functions of colour on the CPU. Each converts one stored row.
#pragma once

#include "core/image/image.hpp"
#include "core/image/picture.hpp"
#include "core/image/view.hpp"
#include "kernels/colour/colour_math.hpp"
#include "kernels/colour/deep_colour.hpp"

namespace lensd {

/// Returns the bytes of worker memory for one stored row of this width.
size_t colour_worker_bytes(int width);

/// Conversion of a row. If `light` is set, it converts the results of `codes` to colours; otherwise the
/// results of `matrix` are the colours.
struct ColourConversion {
  ColourMatrix matrix, codes;
  const DisplayLight* light = nullptr;
};

/// Converts stored row `y` to RGBA8, or to Gray8 if grey. `worker`: private memory of colour_worker_bytes().
void colour_row(const PictureRef& picture, const ColourConversion& conversion, int y, uint8_t* out,
                uint8_t* worker);

/// Converts a row like colour_row(), for any layout, with plain loops.
void colour_row_general(const PictureRef& picture, const ColourConversion& conversion, int y, uint8_t* out,
                        uint8_t* worker);

/// Conversion of a row to 16 bits. `light`: null if the results of `matrix` are the colours.
struct DeepConversion {
  DeepMatrix matrix;
  int32_t sample_mask = 0;
  const DeepLight* light = nullptr;
};

/// Converts stored row `y` to RGBA16, or to Gray16 if grey. `worker` as in colour_row().
void deep_colour_row(const PictureRef& picture, const DeepConversion& conversion, int y, uint16_t* out,
                     uint8_t* worker);

/// A stored row of YUV with chroma halved horizontally, without gaps between the samples of luma. A sample is
/// (word >> shift) & mask.
struct HalvedRow {
  const uint8_t* luma;
  const uint8_t *u[2], *v[2];         ///< the two chroma rows to blend
  float first_weight, second_weight;  ///< weights of the two chroma rows, in quarters
  int luma_shift, chroma_shift, mask;
  bool two_bytes;    ///< a sample has two bytes
  bool interleaved;  ///< U and V alternate; `v` is not used
  bool cosited;      ///< chroma is at even columns
};
/// Converts a row to opaque RGBA16. `u` and `v` are temporary rows of chroma with room for one value before
/// them and one vector after them.
void deep_halved_row(const HalvedRow& row, const DeepMatrix& m, int width, float* u, float* v, uint16_t* out);
/// Converts a row to unrounded colours, where white is 65535, in three planes: out[0] is red, out[1] green,
/// out[2] blue. Writes up to 31 values after a row.
void deep_halved_colours(const HalvedRow& row, const DeepMatrix& m, int width, float* u, float* v,
                         float* const* out);
/// Rounds colours to opaque RGBA16.
void deep_pack_row(const float* r, const float* g, const float* b, int width, uint16_t* out);

/// The samples of a decoded picture, one by one, for the oracles.
struct StoredSamples {
  const PictureRef& picture;

  int at(int component, int x, int y) const {
    const PictureFormat& f = picture.info.format;
    const ComponentLayout& layout = f.components[static_cast<size_t>(component)];
    return load_sample(picture.planes[layout.plane] + y * picture.pitch_bytes[layout.plane], layout, x,
                       f.depth > 8, (1 << f.depth) - 1);
  }
  /// Returns the chroma at luma position (x, y), in sixteenths.
  int chroma(int component, int x, int y) const {
    const PictureInfo& info = picture.info;
    const int shift = info.format.chroma_shift_x;
    const ChromaTap tx = chroma_tap(x, shift, cosited_x(info), chroma_size(info.extent.width, shift));
    const ChromaTap ty = chroma_rows(info, y);
    const auto across = [&](int row) {
      return tx.first_weight * at(component, tx.first, row) +
             tx.second_weight * at(component, tx.second, row);
    };
    return ty.first_weight * across(ty.first) + ty.second_weight * across(ty.second);
  }
};

/// Converts the whole picture in scalar code. `output`: format of the result.
Image deep_colour_reference(const PictureRef& picture, const ImageFormat& output,
                            const ColourSettings& settings);

/// The samples of a stored row, in a worker's memory: luma with chroma in sixteenths at every column, or R, G
/// and B, or grey in the first plane. `free`: memory for another plane.
struct ComponentRows {
  int32_t* planes[3];
  int32_t* alpha;  ///< null if the picture has none
  int32_t* free;
};
ComponentRows component_rows(const PictureRef& picture, int sample_mask, int y, uint8_t* worker);
/// Returns row buffer `i`, from 0 to 5, of the worker's memory. component_rows() uses all six. A buffer has
/// room for the width, rounded up to a multiple of 16, and kLightPadding more samples.
int32_t* row_buffer(uint8_t* worker, int width, int i);

/// Number of samples after a row that light_row() and deep_light_row() may overwrite: a vector.
inline constexpr int kLightPadding = 16;
/// Converts codes of R, G and B to opaque pixels by DisplayLight::pixel(). Overwrites the padding of `codes`.
void light_row(const DisplayLight& light, int32_t* const* codes, int width, uint32_t* out);
/// Applies DeepLight::convert() to a row of coded colours in place. Writes whole vectors.
void deep_light_row(const DeepLight& light, float* r, float* g, float* b, int width);

/// Two rows of chroma that are blended for one row of luma: wa · a + wb · b − grey. wa + wb is 4, so the
/// result is in quarters of a sample value, relative to grey. A two-byte sample is (word >> shift) & mask.
struct ChromaRows {
  const uint8_t *a[2], *b[2];  ///< rows of U and of V
  int wa, wb, grey, shift, mask;
  bool two_bytes;    ///< a sample has two bytes
  bool interleaved;  ///< U and V alternate; a[1] and b[1] are not used

  template <class Word>
  int16_t blend(Word from_a, Word from_b) const {
    if constexpr (sizeof(Word) == 1) return static_cast<int16_t>(wa * from_a + wb * from_b - grey);
    return static_cast<int16_t>(wa * ((from_a >> shift) & mask) + wb * ((from_b >> shift) & mask) - grey);
  }
};

/// Returns true for the formats of colour_row_halved(): 4:2:0 and 4:2:2 with up to 12 bits and without alpha,
/// planar or semi-planar, or packed with 8 bits.
bool is_halved(const PictureFormat& format);
void colour_row_halved(const PictureRef& picture, const ColourMatrix& matrix, int y, uint8_t* out,
                       uint8_t* worker);

}  // namespace lensd
