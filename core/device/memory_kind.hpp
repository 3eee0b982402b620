// Kinds of memory that a buffer may be in.
#pragma once

#include <cstdint>

namespace lensd {

enum class MemoryKind : uint8_t {
  host,    ///< ordinary memory
  pinned,  ///< page-locked host memory, for asynchronous copies to and from the GPU
  device,  ///< GPU memory
};

}  // namespace lensd
