// border_index() without inlining. Kernels call it at every row load, so inlined copies would be most of
// their code.
#pragma once

#include "kernels/common/border/border.hpp"

namespace lensd {

__device__ __noinline__ inline int called_border_index(int i, int n, Border border) {
  return border_index(i, n, border);
}

}  // namespace lensd
