// Rows with their border, for the CPU implementation of neighbourhood filters. The border is copied once by
// the border rule, so that inner loops need no special cases.
#pragma once

#include <cstring>

#include "kernels/common/border/border.hpp"

namespace lensd {

/// Returns the row for position `y`, or null for the zero row of Border::constant.
inline const uint8_t* border_row(const ConstImageRef& image, int y, Border border) {
  const int inside = border_index(y, image.height(), border);
  return inside < 0 ? nullptr : image.row(inside);
}

/// Copies pixels [x0, x1) of `row` to `out`. The row has `width` pixels of `pixel_bytes` bytes each; pixels
/// outside it follow the border rule. If `row` is null, writes zeros.
inline void copy_span(const uint8_t* row, int width, int pixel_bytes, int x0, int x1, Border border,
                      uint8_t* out) {
  const auto bytes = [pixel_bytes](int pixels) {
    return static_cast<size_t>(pixels) * static_cast<size_t>(pixel_bytes);
  };
  if (!row) {
    std::memset(out, 0, bytes(x1 - x0));
    return;
  }
  const auto bordered = [&](int from, int to) {
    for (int x = from; x < to; ++x) {
      const int inside = border_index(x, width, border);
      for (int i = 0; i < pixel_bytes; ++i) *out++ = inside < 0 ? uint8_t{0} : row[inside * pixel_bytes + i];
    }
  };
  const int begin = x0 > 0 ? x0 : 0, end = x1 < width ? x1 : width;
  bordered(x0, begin < x1 ? begin : x1);
  if (end > begin) {
    std::memcpy(out, row + bytes(begin), bytes(end - begin));
    out += bytes(end - begin);
  }
  bordered(end > begin ? end : (begin < x1 ? begin : x1), x1);
}

}  // namespace lensd
