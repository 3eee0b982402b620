// Arithmetic on samples and pixels that several filters share.
#pragma once

#include "core/image/view.hpp"

namespace lensd {

/// Clamps `v` to 0 … 255.
LENSD_HD constexpr uint8_t clamp_to_byte(int v) {
  return static_cast<uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v);
}

/// Clamps `v` to 0 … `most`.
LENSD_HD constexpr int clamp_to(int most, int v) {
  return v < 0 ? 0 : v > most ? most : v;
}

/// White of samples of type S.
template <class S>
inline constexpr int kWhite = sizeof(S) == 1 ? 255 : 65535;

/// Returns the 16-bit sample as 8 bits, rounded to nearest.
LENSD_HD constexpr uint8_t to_byte(uint32_t v) {
  return static_cast<uint8_t>((v * 255 + 32895) >> 16);
}

/// Returns the value rounded half up and clamped to 0 … 65535.
LENSD_HD inline uint16_t to_deep_sample(float v) {
  const float limited = v < 0.f ? 0.f : v > 65535.f ? 65535.f : v;
  return static_cast<uint16_t>(static_cast<int>(limited + 0.5f));
}

/// Calls `f.template operator()<S>()` with the type of the format's samples.
template <class F>
decltype(auto) with_sample_type(PixelFormat format, const F& f) {
  return sample_bytes(format) == 1 ? f.template operator()<uint8_t>() : f.template operator()<uint16_t>();
}

/// Returns the number of colour channels of a pixel.
LENSD_HD constexpr int colour_channels(PixelFormat format) {
  return is_gray(format) ? 1 : 3;
}

/// Returns the bits of an RGBA8 word that hold colour, or all bits for grey.
LENSD_HD constexpr uint32_t colour_bits(PixelFormat format) {
  return is_gray(format) ? 0xffffffffu : 0x00ffffffu;
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

/// Returns the luma of 16-bit samples: BT.601, weights in 1/65536, within 1 of double precision.
LENSD_HD constexpr int deep_luma(int r, int g, int b) {
  return static_cast<int>((19595u * static_cast<uint32_t>(r) + 38470u * static_cast<uint32_t>(g) +
                           7471u * static_cast<uint32_t>(b) + 32768u) >>
                          16);
}

}  // namespace lensd
