// border_index() without inlining: inlined at every row load, it would be most of a kernel's code.
#pragma once

#include "kernels/common/border/border.hpp"

namespace lensd {

__device__ __noinline__ inline int called_border_index(int i, int n, Border border) {
  return border_index(i, n, border);
}

}  // namespace lensd
