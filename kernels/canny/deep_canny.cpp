#include "kernels/canny/deep_canny.hpp"

#include <algorithm>

#include "kernels/common/row_ring.hpp"
#include "kernels/common/vectorised.hpp"

namespace lensd {
namespace {

constexpr int kRim = 2 * kCannyMaxReach;

/// Rows of a worker: sums of columns with their border, derivatives of two rows, magnitudes of three.
struct DeepCannyRows {
  int32_t *smooth, *derive;
  int32_t* dx[2];
  int32_t* dy[2];
  int64_t* magnitude[3];  ///< with a zero at both ends

  DeepCannyRows(uint8_t* memory, int width) {
    const size_t n = static_cast<size_t>(width) + kRim + 2;
    for (int64_t*& row : magnitude) {
      row = reinterpret_cast<int64_t*>(memory) + 1, memory += n * sizeof(int64_t);
      row[-1] = row[width] = 0;
    }
    for (int32_t** row : {&smooth, &derive, &dx[0], &dx[1], &dy[0], &dy[1]})
      *row = reinterpret_cast<int32_t*>(memory), memory += n * sizeof(int32_t);
  }
};

/// Computes derivatives and magnitudes of a row; rows[A / 2 + j] is the input row j rows below it.
template <int A>
void gradient_row(const uint16_t* const* rows, int width, bool l2, int32_t* __restrict smooth,
                  int32_t* __restrict derive, int32_t* __restrict dx, int32_t* __restrict dy,
                  int64_t* __restrict magnitude) {
  constexpr int R = A / 2;
  vectorised([=] {
    for (int x = -R; x < width + R; ++x) {
      int down = 0, slope = 0;
      for (int j = -R; j <= R; ++j)
        down += canny_smooth<A>(j) * rows[R + j][x], slope += canny_derive<A>(j) * rows[R + j][x];
      smooth[x + R] = down, derive[x + R] = slope;
    }
    for (int x = 0; x < width; ++x) {
      int across = 0, slope = 0;
      for (int i = -R; i <= R; ++i)
        across += canny_derive<A>(i) * smooth[x + R + i], slope += canny_smooth<A>(i) * derive[x + R + i];
      dx[x] = canny_scale<A>(across), dy[x] = canny_scale<A>(slope);
      magnitude[x] = deep_canny_magnitude(dx[x], dy[x], l2);
    }
  });
}

}  // namespace

size_t deep_canny_bytes(int width) {
  return (static_cast<size_t>(width) + kRim + 2) * (3 * sizeof(int64_t) + 6 * sizeof(int32_t));
}

void deep_canny_band(ConstImageRef in, const CannyClasses& classes, const CannyBlock& block, Band band,
                     uint8_t* ring, uint8_t* memory) {
  const int reach = block.aperture / 2, width = in.width();
  RowRing rows(in, reach, Border::replicate, ring);
  const DeepCannyRows worker(memory, width);
  const auto compute = block.aperture == 3   ? gradient_row<3>
                       : block.aperture == 5 ? gradient_row<5>
                                             : gradient_row<7>;
  const auto magnitude = [&](int y) { return worker.magnitude[(y + 3) % 3]; };
  const auto gradient = [&](int y) {
    if (y < 0 || y >= in.height()) {
      std::fill_n(magnitude(y), width, 0);
      return;
    }
    rows.move_to(y);
    const uint16_t* from[2 * kCannyMaxReach + 1];
    for (int j = -reach; j <= reach; ++j) from[reach + j] = reinterpret_cast<const uint16_t*>(rows.row(j));
    compute(from, width, block.l2, worker.smooth, worker.derive, worker.dx[y & 1], worker.dy[y & 1],
            magnitude(y));
  };
  gradient(band.begin - 1), gradient(band.begin);
  for (int y = band.begin; y < band.end; ++y) {
    gradient(y + 1);
    uint8_t* const to = classes.origin + y * classes.pitch;
    const int64_t *above = magnitude(y - 1), *at = magnitude(y), *below = magnitude(y + 1);
    for (int x = 0; x < width; ++x)
      to[x] = static_cast<uint8_t>(deep_canny_class(above + x, at + x, below + x, worker.dx[y & 1][x],
                                                    worker.dy[y & 1][x], block.deep_low, block.deep_high));
    to[-1] = to[width] = 0;
  }
}

void deep_canny_output(const uint8_t* classes, const uint16_t* in, uint16_t* out, int width,
                       CannyOutput output) {
  const bool overlay = output == CannyOutput::overlay;
  for (int x = 0; x < width; ++x)
    out[x] = static_cast<uint16_t>(classes[x] == 2 ? 65535 : overlay ? in[x] / 2 : 0);
}

}  // namespace lensd
