// The alpha of RGBA rows whose colours were filtered.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lensd {

/// Copies the fourth byte of each pixel; `n` is in bytes.
void keep_alpha(const uint8_t* in, uint8_t* out, size_t n);

}  // namespace lensd
