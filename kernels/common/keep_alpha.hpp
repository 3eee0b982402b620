// Copies alpha to RGBA rows whose colours were filtered.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lensd {

/// Writes `n` bytes of RGBA8 pixels to `out`: the colours of `colours` and the alpha of `in`. `out` may be
/// `colours`.
void with_alpha_of(const uint8_t* in, const uint8_t* colours, uint8_t* out, size_t n);

/// Sets the alpha of `out` to that of `in`.
inline void keep_alpha(const uint8_t* in, uint8_t* out, size_t n) {
  with_alpha_of(in, out, out, n);
}

/// Sets the alpha of `width` RGBA16 pixels of `out` to that of `in`.
inline void keep_alpha(const uint16_t* in, uint16_t* out, int width) {
  for (int x = 0; x < width; ++x) out[4 * x + 3] = in[4 * x + 3];
}

}  // namespace lensd
