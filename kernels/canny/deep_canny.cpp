#include "kernels/canny/deep_canny.hpp"

#include <algorithm>

#include "kernels/common/row_ring.hpp"
#include "kernels/common/vectorised.hpp"

namespace lensd {
namespace {

constexpr int kRim = 2 * kCannyMaxReach;

/// Rows of a worker: sums of columns with their border, derivatives of two rows, magnitudes of three. M is
/// the type of magnitudes: int32_t holds |dx| + |dy|, which has at most 24 bits, but not dx² + dy².
template <class M>
struct DeepCannyRows {
  int32_t *smooth, *derive;
  int32_t* dx[2];
  int32_t* dy[2];
  M* magnitude[3];  ///< rows of magnitudes with a zero at both ends

  DeepCannyRows(uint8_t* memory, int width) {
    const size_t n = static_cast<size_t>(width) + kRim + 2;
    for (M*& row : magnitude) {
      row = reinterpret_cast<M*>(memory) + 1, memory += n * sizeof(M);
      row[-1] = row[width] = 0;
    }
    for (int32_t** row : {&smooth, &derive, &dx[0], &dx[1], &dy[0], &dy[1]})
      *row = reinterpret_cast<int32_t*>(memory), memory += n * sizeof(int32_t);
  }
};

/// Computes derivatives and magnitudes of a row; rows[A / 2 + j] is the input row j rows below it.
template <int A, class M>
void gradient_row(const uint16_t* const* rows, int width, int32_t* __restrict smooth,
                  int32_t* __restrict derive, int32_t* __restrict dx, int32_t* __restrict dy,
                  M* __restrict magnitude) {
  constexpr int R = A / 2;
  vectorised([=] {
    // Local copies, because stores might change captured variables. The compiler would then not vectorise the
    // loop.
    const int n = width;
    const uint16_t* from[A];
    for (int j = 0; j < A; ++j) from[j] = rows[j];
    int32_t* __restrict const sums = smooth + R, * __restrict const slopes = derive + R;
    int32_t* __restrict const to_x = dx, * __restrict const to_y = dy;
    M* __restrict const to = magnitude;
    for (int x = -R; x < n + R; ++x) {
      int down = 0, slope = 0;
#pragma GCC unroll 7
      for (int j = -R; j <= R; ++j)
        down += canny_smooth<A>(j) * from[R + j][x], slope += canny_derive<A>(j) * from[R + j][x];
      sums[x] = down, slopes[x] = slope;
    }
    for (int x = 0; x < n; ++x) {
      int across = 0, slope = 0;
#pragma GCC unroll 7
      for (int i = -R; i <= R; ++i)
        across += canny_derive<A>(i) * sums[x + i], slope += canny_smooth<A>(i) * slopes[x + i];
      const int gx = canny_scale<A>(across), gy = canny_scale<A>(slope);
      to_x[x] = gx, to_y[x] = gy;
      if constexpr (sizeof(M) == 8)
        to[x] = deep_canny_magnitude(gx, gy, true);
      else
        to[x] = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
    }
  });
}

/// Computes deep_canny_class() for a row of magnitudes |dx| + |dy|, with 32-bit integers and without
/// branches. `whole` and `rest` are the quotient and the remainder of |dx| · 13573 / 2^15, where 13573 / 2^15
/// is tan 22.5°. |dx| is split at bit 12, because the product has up to 36 bits.
void suppress_row(const int32_t* above, const int32_t* at, const int32_t* below, const int32_t* dx,
                  const int32_t* dy, uint8_t* to, int width, const CannyBlock& block) {
  const int32_t low = static_cast<int32_t>(block.deep_low), high = static_cast<int32_t>(block.deep_high);
  vectorised([=] {
    const int n = width;  // see gradient_row()
    uint8_t* __restrict const classes = to;
    const int32_t *const up = above, *const here = at, *const under = below, *const dxs = dx, *const dys = dy;
    const int32_t least = low, strong = high;
    for (int x = 0; x < n; ++x) {
      const int32_t gx = dxs[x], gy = dys[x], m = here[x];
      const int32_t ax = gx < 0 ? -gx : gx, ay = gy < 0 ? -gy : gy;
      const int32_t upper = (ax >> 12) * 13573, part = ((upper & 7) << 12) + (ax & 4095) * 13573;
      const int32_t whole = (upper >> 3) + (part >> 15), rest = part & 32767;
      const int32_t left = here[x - 1], right = here[x + 1] - 1, top = up[x], bottom = under[x] - 1;
      const int32_t above_left = up[x - 1], above_right = up[x + 1];
      const int32_t below_left = under[x - 1], below_right = under[x + 1];
      const bool across = ay < whole + (rest > 0 ? 1 : 0), rising = (gx ^ gy) < 0;
      const bool down = ay - 2 * ax > whole;
      const int32_t diagonal_first = rising ? above_right : above_left;
      const int32_t diagonal_second = rising ? below_left : below_right;
      const int32_t vertical_first = down ? top : diagonal_first;
      const int32_t vertical_second = down ? bottom : diagonal_second;
      const int32_t first = across ? left : vertical_first, second = across ? right : vertical_second;
      const int32_t most = first > second ? first : second, bound = most > least ? most : least;
      const int32_t value = m > strong ? 2 : 1;
      classes[x] = static_cast<uint8_t>(m > bound ? value : 0);
    }
  });
}

void suppress_row(const int64_t* above, const int64_t* at, const int64_t* below, const int32_t* dx,
                  const int32_t* dy, uint8_t* to, int width, const CannyBlock& block) {
  for (int x = 0; x < width; ++x)
    to[x] = static_cast<uint8_t>(
        deep_canny_class(above + x, at + x, below + x, dx[x], dy[x], block.deep_low, block.deep_high));
}

/// Implements deep_canny_band() for magnitudes of type M.
template <class M>
void classify_band(ConstImageRef in, const CannyClasses& classes, const CannyBlock& block, Band band,
                   uint8_t* ring, uint8_t* memory) {
  const int reach = block.aperture / 2, width = in.width();
  RowRing rows(in, reach, Border::replicate, ring);
  const DeepCannyRows<M> worker(memory, width);
  const auto compute = block.aperture == 3   ? gradient_row<3, M>
                       : block.aperture == 5 ? gradient_row<5, M>
                                             : gradient_row<7, M>;
  const auto magnitude = [&](int y) { return worker.magnitude[(y + 3) % 3]; };
  const auto gradient = [&](int y) {
    if (y < 0 || y >= in.height()) {
      std::fill_n(magnitude(y), width, M{0});
      return;
    }
    rows.move_to(y);
    const uint16_t* from[2 * kCannyMaxReach + 1];
    for (int j = -reach; j <= reach; ++j) from[reach + j] = reinterpret_cast<const uint16_t*>(rows.row(j));
    compute(from, width, worker.smooth, worker.derive, worker.dx[y & 1], worker.dy[y & 1], magnitude(y));
  };
  gradient(band.begin - 1), gradient(band.begin);
  for (int y = band.begin; y < band.end; ++y) {
    gradient(y + 1);
    uint8_t* const to = classes.origin + y * classes.pitch;
    suppress_row(magnitude(y - 1), magnitude(y), magnitude(y + 1), worker.dx[y & 1], worker.dy[y & 1], to,
                 width, block);
    to[-1] = to[width] = 0;
  }
}

}  // namespace

size_t deep_canny_bytes(int width) {
  return (static_cast<size_t>(width) + kRim + 2) * (3 * sizeof(int64_t) + 6 * sizeof(int32_t));
}

void deep_canny_band(ConstImageRef in, const CannyClasses& classes, const CannyBlock& block, Band band,
                     uint8_t* ring, uint8_t* memory) {
  (block.l2 ? classify_band<int64_t> : classify_band<int32_t>)(in, classes, block, band, ring, memory);
}

void deep_canny_output(const uint8_t* classes, const uint16_t* in, uint16_t* out, int width,
                       CannyOutput output) {
  const bool overlay = output == CannyOutput::overlay;
  vectorised([=] {
    const uint16_t shown = overlay ? 65535 : 0;
    for (int x = 0; x < width; ++x) {
      const auto under = static_cast<uint16_t>(in[x] / 2 & shown);
      out[x] = classes[x] == 2 ? uint16_t{65535} : under;
    }
  });
}

}  // namespace lensd
