// An image that owns packed host memory, for reference results, tests and snapshots. Do not allocate one per
// frame.
#pragma once

#include <cstdint>
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
  uint8_t& at(int x, int y, int c = 0) { return pixels[offset(x, y, c)]; }
  uint8_t at(int x, int y, int c = 0) const { return pixels[offset(x, y, c)]; }

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
