// Bits per sample of the images between the nodes of a graph.
#pragma once

#include <cstdint>

#include "core/image/picture.hpp"

namespace lensd {

/// `automatic`: 16 if the picture has more than 8 bits or no SDR transfer function, else 8.
enum class Precision : uint8_t { automatic, eight, sixteen };

/// Names of the Precision values in settings, in the order of the enum.
inline constexpr const char* kPrecisionNames[] = {"auto", "8", "16"};

/// Returns the bits per sample of the working images, 8 or 16.
inline int bits_of(Precision precision, const PictureInfo& picture) {
  if (precision != Precision::automatic) return precision == Precision::sixteen ? 16 : 8;
  return picture.format.depth > 8 || !is_sdr(picture.colour.transfer) ? 16 : 8;
}

}  // namespace lensd
