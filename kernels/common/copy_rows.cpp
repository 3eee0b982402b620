#include "kernels/common/copy_rows.hpp"

#include <cstring>

namespace lensd {

void copy_rows(const ConstImageRef& in, const ImageRef& out, Band band, int x, int y) {
  const size_t left = static_cast<size_t>(x) * static_cast<size_t>(in.pixel_bytes());
  for (int i = band.begin; i < band.end; ++i) std::memcpy(out.row(i), in.row(y + i) + left, out.row_bytes());
}

}  // namespace lensd
