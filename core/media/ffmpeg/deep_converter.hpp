// Converts images with 16 bits per sample to the pixel formats of encoders. swscale is not exact enough for
// that: it converts white to 236 instead of 235 (8 bits) and 943 instead of 940 (10 bits). Internal to
// core/media.
#pragma once

#include <array>
#include <vector>

#include "core/image/picture.hpp"
#include "core/media/ffmpeg/pixels.hpp"

namespace lensd {

/// Computes in single precision and then rounds to nearest, or dithers. Chroma is averaged over the pixels
/// that it belongs to: horizontally with the weights 1, 2 and 1 around an even column if it is sited left,
/// over two columns if it is centred; vertically over two rows.
class DeepConverter {
 public:
  /// Returns true if `from` is a working image with 16 bits per sample and full range, and `to` has the same
  /// extent and a layout of PictureFormat.
  static bool supports(const PixelsFormat& from, const PixelsFormat& to);

  /// Prepares the conversion, which must be supported. `dither`: samples of 8 bits are dithered.
  void open(const PixelsFormat& from, const PixelsFormat& to, bool dither);
  void convert(const Pixels& from, AVFrame& to);

 private:
  /// sample = value · factor + offset, clamped to 0 … most; values are 0 to 65535, chroma −32767.5 to
  /// 32767.5.
  struct Scale {
    float factor = 1, offset = 0;
  };
  using Row = std::vector<float>;

  void write(const Row& values, int count, int component, int y, AVFrame& to);
  void convert_row(const uint16_t* from, int y, AVFrame& to);
  void convert_chroma(int y, AVFrame& to);

  bool gray_ = false, dither_ = false;
  bool centred_ = false;  ///< chroma is sited in the centre, else left
  bool fill_ = false;     ///< the format may have unused bytes; they become 255
  Extent extent_;
  PictureFormat format_;
  std::array<Scale, 4> scales_;
  float most_ = 255;
  float kr_ = 0, kg_ = 0, kb_ = 0, to_u_ = 0, to_v_ = 0;
  std::array<Row, 4> channels_;  // R, G, B and A; grey sources: three copies and 65535
  Row luma_;
  std::array<Row, 2> chroma_;  // U and V of a row, or the mean of two rows if chroma has half the rows
  Row narrow_;
  std::vector<uint8_t> packed_;
};

}  // namespace lensd
