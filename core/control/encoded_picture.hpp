// A frame as the bytes of an image file, for snapshots and streams.
#pragma once

#include <cstdint>
#include <string>

#include "core/image/frame.hpp"

namespace lensd {

enum class PictureType : uint8_t { png, jpeg };

struct EncodedPicture {
  std::string bytes;
  FrameInfo frame;
};

}  // namespace lensd
