// Copies alpha to RGBA rows whose colours were filtered.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lensd {

/// Writes the colours of `colours` with the alpha of `in` to `out`, over `n` bytes of RGBA pixels. `out` may
/// be `colours`.
void with_alpha_of(const uint8_t* in, const uint8_t* colours, uint8_t* out, size_t n);

/// Sets the alpha of `out` to that of `in`.
inline void keep_alpha(const uint8_t* in, uint8_t* out, size_t n) {
  with_alpha_of(in, out, out, n);
}

}  // namespace lensd
