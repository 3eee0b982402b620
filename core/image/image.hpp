// An image that owns packed host memory, for reference results, tests and snapshots. Do not allocate one per
// frame.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "core/image/view.hpp"

namespace lensd {

struct Image {
  ImageFormat format;
  std::vector<uint8_t> pixels;  ///< rows from the top, each of format.row_bytes()

  Image() = default;
  explicit Image(ImageFormat f) : format(f), pixels(f.row_bytes() * static_cast<size_t>(f.extent.height)) {}

  int width() const { return format.extent.width; }
  int height() const { return format.extent.height; }
  int channels() const { return lensd::channels(format.format); }
  bool is_deep() const { return sample_bytes(format.format) == 2; }  ///< 16 bits per sample
  /// Returns a sample of an image with 8 bits per sample.
  uint8_t& at(int x, int y, int c = 0) { return pixels[offset(x, y, c)]; }
  uint8_t at(int x, int y, int c = 0) const { return pixels[offset(x, y, c)]; }

  /// Returns a sample of either depth.
  int sample(int x, int y, int c = 0) const {
    if (sample_bytes(format.format) == 1) return at(x, y, c);
    uint16_t v;
    std::memcpy(&v, pixels.data() + 2 * offset(x, y, c), sizeof v);
    return v;
  }
  /// Sets a sample of either depth.
  void set_sample(int x, int y, int c, int value) {
    if (sample_bytes(format.format) == 1) {
      at(x, y, c) = static_cast<uint8_t>(value);
      return;
    }
    const auto v = static_cast<uint16_t>(value);
    std::memcpy(pixels.data() + 2 * offset(x, y, c), &v, sizeof v);
  }

  ImageRef ref() { return {pixels.data(), static_cast<std::ptrdiff_t>(format.row_bytes()), format}; }
  ConstImageRef ref() const {
    return {pixels.data(), static_cast<std::ptrdiff_t>(format.row_bytes()), format};
  }

 private:
  size_t offset(int x, int y, int c) const {
    return (static_cast<size_t>(y) * static_cast<size_t>(width()) + static_cast<size_t>(x)) *
               static_cast<size_t>(channels()) +
           static_cast<size_t>(c);
  }
};

}  // namespace lensd
