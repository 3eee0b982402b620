#pragma once

#include "kernels/common/border/border.hpp"

namespace lensd {

/// Columns of each row that a thread of sobel reads: kColumns from `x` on, and one on each side, mapped by
/// the border rule (−1: read as 0). `wide`: the columns from `x` on are inside the image and aligned for one
/// load.
template <int kColumns>
struct SobelColumns {
  int x, left, right;
  bool wide;

  __device__ SobelColumns(int from, int width, Border border, bool aligned)
      : x(from),
        left(border_index(from - 1, width, border)),
        right(border_index(from + kColumns, width, border)),
        wide(aligned && from + kColumns <= width) {}
};

}  // namespace lensd
