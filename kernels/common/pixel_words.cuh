// Access to RGBA8 pixels as words at any alignment: one access per pixel where rows are aligned to 4 bytes,
// byte accesses elsewhere.
#pragma once

#include "kernels/common/launch.cuh"

namespace lensd {

struct PixelWordsIn {
  ImageView<const uint8_t> bytes;
  bool aligned;
  explicit PixelWordsIn(const ConstImageRef& image)
      : bytes(image.as<const uint8_t>()), aligned(rows_aligned(image, 4)) {}
  __device__ uint32_t at(int x, int y) const { return load_word(bytes.row(y) + 4 * x, aligned); }
};

struct PixelWordsOut {
  ImageView<uint8_t> bytes;
  bool aligned;
  explicit PixelWordsOut(const ImageRef& image)
      : bytes(image.as<uint8_t>()), aligned(rows_aligned(image, 4)) {}
  __device__ void set(int x, int y, uint32_t pixel) const {
    store_word(bytes.row(y) + 4 * x, pixel, aligned);
  }
};

}  // namespace lensd
