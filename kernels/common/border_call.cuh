// border_index() as a function that is called. Inlined wherever a row is loaded, it would be most of a
// kernel.
#pragma once

#include "kernels/common/border.hpp"

namespace lensd {

__device__ __noinline__ inline int called_border_index(int i, int n, Border border) {
  return border_index(i, n, border);
}

}  // namespace lensd
