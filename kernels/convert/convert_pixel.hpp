// Conversion of one pixel between working formats, for both backends.
#pragma once

#include "kernels/common/samples.hpp"
#include "kernels/grayscale/grayscale.hpp"

namespace lensd {

/// A pixel with 16 bits per sample. Grey: r, g and b are equal, and a is 65535.
struct WidePixel {
  uint32_t r, g, b, a;
};

template <PixelFormat kFrom>
LENSD_HD inline WidePixel load_pixel(const uint8_t* row, int x) {
  if constexpr (kFrom == PixelFormat::gray8) {
    const uint32_t v = row[x] * 257u;
    return {v, v, v, 65535};
  } else if constexpr (kFrom == PixelFormat::rgba8) {
    const uint8_t* p = row + 4 * x;
    return {p[0] * 257u, p[1] * 257u, p[2] * 257u, p[3] * 257u};
  } else if constexpr (kFrom == PixelFormat::gray16) {
    const uint32_t v = reinterpret_cast<const uint16_t*>(row)[x];
    return {v, v, v, 65535};
  } else {
    const uint16_t* p = reinterpret_cast<const uint16_t*>(row) + 4 * x;
    return {p[0], p[1], p[2], p[3]};
  }
}

template <PixelFormat kFrom, PixelFormat kTo>
LENSD_HD inline void store_pixel(uint8_t* row, int x, const WidePixel& v, const LumaBlock& weights) {
  if constexpr (is_gray(kTo)) {
    const uint32_t gray = is_gray(kFrom) ? v.r : luma16(weights, v.r, v.g, v.b);
    if constexpr (kTo == PixelFormat::gray8)
      row[x] = to_byte(gray);
    else
      reinterpret_cast<uint16_t*>(row)[x] = static_cast<uint16_t>(gray);
  } else if constexpr (kTo == PixelFormat::rgba8) {
    uint8_t* p = row + 4 * x;
    p[0] = to_byte(v.r), p[1] = to_byte(v.g), p[2] = to_byte(v.b), p[3] = to_byte(v.a);
  } else {
    uint16_t* p = reinterpret_cast<uint16_t*>(row) + 4 * x;
    p[0] = static_cast<uint16_t>(v.r), p[1] = static_cast<uint16_t>(v.g), p[2] = static_cast<uint16_t>(v.b);
    p[3] = static_cast<uint16_t>(v.a);
  }
}

/// Calls `f.template operator()<from, to>()`, so that the formats are compile-time constants.
template <class F>
void with_formats(PixelFormat from, PixelFormat to, const F& f) {
  const auto with_target = [&]<PixelFormat kFrom>() {
    switch (to) {
      case PixelFormat::gray8:
        return f.template operator()<kFrom, PixelFormat::gray8>();
      case PixelFormat::rgba8:
        return f.template operator()<kFrom, PixelFormat::rgba8>();
      case PixelFormat::gray16:
        return f.template operator()<kFrom, PixelFormat::gray16>();
      case PixelFormat::rgba16:
        return f.template operator()<kFrom, PixelFormat::rgba16>();
    }
  };
  switch (from) {
    case PixelFormat::gray8:
      return with_target.template operator()<PixelFormat::gray8>();
    case PixelFormat::rgba8:
      return with_target.template operator()<PixelFormat::rgba8>();
    case PixelFormat::gray16:
      return with_target.template operator()<PixelFormat::gray16>();
    case PixelFormat::rgba16:
      return with_target.template operator()<PixelFormat::rgba16>();
  }
}

}  // namespace lensd
