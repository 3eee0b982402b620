// Arithmetic on samples and pixels that several filters share.
#pragma once

#include "core/image/view.hpp"

namespace lensd {

/// Limits `v` to 0 … 255.
LENSD_HD constexpr uint8_t clamp_to_byte(int v) {
  return static_cast<uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v);
}

/// Returns the number of colour channels of a pixel.
LENSD_HD constexpr int colour_channels(PixelFormat format) {
  return format == PixelFormat::gray8 ? 1 : 3;
}

/// Returns the bits of an RGBA word that hold colour, or all bits for gray.
LENSD_HD constexpr uint32_t colour_bits(PixelFormat format) {
  return format == PixelFormat::gray8 ? 0xffffffffu : 0x00ffffffu;
}

/// Returns true if byte `x` of a row is a colour byte; `colour` is the mask that repeats every 4 bytes.
template <class Int>
LENSD_HD constexpr bool is_colour_byte(uint32_t colour, Int x) {
  return (colour >> (x % 4 * 8) & 255) != 0;
}

/// Calls f(x, y, c) for the first `channels` channels of every pixel.
template <class F>
void for_each_sample(const Extent& extent, int channels, const F& f) {
  for (int y = 0; y < extent.height; ++y)
    for (int x = 0; x < extent.width; ++x)
      for (int c = 0; c < channels; ++c) f(x, y, c);
}

/// Weights of BT.601 luma in 8-bit fixed point: R · 77 + G · 150 + B · 29, rounded.
inline constexpr int kLumaR = 77, kLumaG = 150, kLumaB = 29;
LENSD_HD constexpr int luma_q8(int r, int g, int b) {
  return (kLumaR * r + kLumaG * g + kLumaB * b + 128) >> 8;
}

}  // namespace lensd
