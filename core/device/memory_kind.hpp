// Kinds of memory that a buffer may be in.
#pragma once

#include <cstdint>

namespace lensd {

enum class MemoryKind : uint8_t {
  host,    ///< ordinary memory
  pinned,  ///< page-locked host memory that the GPU reads asynchronously
  device,  ///< GPU memory
};

}  // namespace lensd
