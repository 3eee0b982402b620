// Launch helpers for .cu files.
#pragma once

#include <cuda_runtime.h>

#include "core/device/cuda_check.hpp"

namespace lensd {

/// Blocks of `size` that cover `items`.
constexpr unsigned blocks_for(int items, int size) {
  return static_cast<unsigned>((items + size - 1) / size);
}

}  // namespace lensd

/// After a launch: the configuration error, if any, with file and line. Does not synchronise.
#define LENSD_LAUNCHED() LENSD_CUDA_CHECK(cudaPeekAtLastError())
