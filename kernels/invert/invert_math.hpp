#pragma once

#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

struct InvertParams {};

struct InvertBlock {
  static InvertBlock make(const InvertParams&) { return {}; }
};

/// Bits that inversion flips in a pixel: 255 − v is v ^ 255.
LENSD_HD constexpr uint32_t invert_mask(PixelFormat format) {
  return format == PixelFormat::gray8 ? 0xffffffffu : 0x00ffffffu;
}

}  // namespace lensd
