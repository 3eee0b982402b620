// median up to radius 3 on the CPU: computes two output rows at a time from a ring of padded rows. Every byte
// is a lane; its neighbours of the same channel are `step` bytes away.
#include "kernels/median/median.hpp"

#include <algorithm>

#include "core/device/memory.hpp"
#include "kernels/common/border_simd.hpp"
#include "kernels/median/median_merge.hpp"
#include "kernels/median/merge_network.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/median/median_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

#ifndef LENSD_MEDIAN_ROWS_ONCE
#define LENSD_MEDIAN_ROWS_ONCE
namespace lensd {

/// Rows that two vertically adjacent windows of the largest radius cover.
inline constexpr int kMedianRing = 2 * kMedianMergeRadius + 2;
/// Bytes beyond a row that vectors may access.
inline constexpr int kMedianSlack = 128;
inline constexpr int kMedianChunk = 1024;  ///< bytes of a row whose columns are sorted at a time

/// Sorted columns of the windows of two output rows. They fit the L1 cache.
struct MedianColumns {
  uint8_t rows[2][5][kMedianChunk + 8 * kMedianNetworkRadius + kMedianSlack];
};

}  // namespace lensd
#endif

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/median/median_vectors-inl.hpp"

/// Computes two rows of 3×3 medians from four padded rows (one pixel of border left and right). `out1` may be
/// null.
void median3_rows(const uint8_t* const* rows, int bytes, int step, uint8_t* out0, uint8_t* out1) {
  const D8 d8;
  const V8 keep = alpha_mask(step);
  const int lanes = static_cast<int>(hn::Lanes(d8));
  for (int i = 0; i < bytes; i += lanes) {
    Column3<V8> upper[3], lower[3];
    for (int k = 0; k < 3; ++k) {
      const int at = i + k * step;
      V8 low = hn::LoadU(d8, rows[1] + at), high = hn::LoadU(d8, rows[2] + at);
      exchange(low, high);
      upper[k] = insert_3(low, high, hn::LoadU(d8, rows[0] + at));
      lower[k] = insert_3(low, high, hn::LoadU(d8, rows[3] + at));
    }
    const int centre = i + step;
    store_pixels(median_of_columns(upper[0], upper[1], upper[2]), hn::LoadU(d8, rows[1] + centre), keep,
                 out0 + i, bytes - i);
    if (out1)
      store_pixels(median_of_columns(lower[0], lower[1], lower[2]), hn::LoadU(d8, rows[2] + centre), keep,
                   out1 + i, bytes - i);
  }
}

/// Sorts `bytes` columns of six rows from byte `from` on: columns of the upper five and of the lower five
/// rows.
HWY_INLINE void sort_columns(const uint8_t* const* rows, int from, int bytes, MedianColumns& columns) {
  const D8 d8;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  for (int i = 0; i < bytes; i += lanes) {
    const auto load = [&](int row) HWY_ATTR { return hn::LoadU(d8, rows[row] + from + i); };
    V8 a = load(1), b = load(2), c = load(3), d = load(4);
    sort_4(a, b, c, d);
    const Column5<V8> upper = insert_5(a, b, c, d, load(0)), lower = insert_5(a, b, c, d, load(5));
    for (int k = 0; k < 5; ++k) {
      hn::StoreU(upper.v[k], d8, columns.rows[0][k] + i);
      hn::StoreU(lower.v[k], d8, columns.rows[1][k] + i);
    }
  }
}

/// Computes two rows of 5×5 medians from six padded rows (two pixels of border left and right). `out1` may be
/// null.
void median5_rows(const uint8_t* const* rows, int bytes, int step, MedianColumns& columns, uint8_t* out0,
                  uint8_t* out1) {
  const D8 d8;
  const V8 keep = alpha_mask(step);
  const int lanes = static_cast<int>(hn::Lanes(d8));
  for (int from = 0; from < bytes; from += kMedianChunk) {
    const int count = std::min(kMedianChunk, bytes - from);
    sort_columns(rows, from, count + 4 * step, columns);
    for (int half = 0; half < 2; ++half) {
      uint8_t* out = half == 0 ? out0 : out1;
      if (!out) continue;
      const auto column = [&](int i) HWY_ATTR {
        Column5<V8> c;
        for (int k = 0; k < 5; ++k) c.v[k] = hn::LoadU(d8, columns.rows[half][k] + i);
        return c;
      };
      for (int i = 0; i < count; i += lanes) {
        const auto four = rows_of_4(column(i), column(i + step), column(i + 2 * step), column(i + 3 * step));
        const V8 centre = hn::LoadU(d8, rows[2 + half] + from + i + 2 * step);
        store_pixels(median_of_rows(four, column(i + 4 * step)), centre, keep, out + from + i, count - i);
      }
    }
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(median3_rows);
HWY_EXPORT(median5_rows);

namespace {

size_t padded_pitch(ImageFormat format) {
  const auto border =
      2 * static_cast<size_t>(kMedianMergeRadius) * static_cast<size_t>(channels(format.format));
  return align_up(format.row_bytes() + border + kMedianSlack, kHostAlignment);
}

}  // namespace

size_t Median::columns_worker_bytes(ImageFormat format) {
  return kMedianRing * padded_pitch(format) + std::max(sizeof(MedianColumns), sizeof(MedianMerges));
}

void Median::run_columns(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  const ImageRef out = args.out;
  const Border border = block_of(args).border;
  const size_t pitch = padded_pitch(in.format);
  uint8_t* const worker = args.worker;
  uint8_t* const sorted = worker + kMedianRing * pitch;
  const int r = radius_, window = 2 * r + 2, bytes = static_cast<int>(in.row_bytes());
  const auto slot = [&](int row) { return worker + static_cast<size_t>(row % window) * pitch; };
  const auto pad = [&](int row) {  // copies a row with its border; row 0 is image row band.begin − r
    copy_span(border_row(in, band.begin - r + row, border), in.width(), in.channels(), -r, in.width() + r,
              border, slot(row));
  };
  for (int row = 0; row < 2 * r; ++row) pad(row);
  const auto rows3 = &HWY_DYNAMIC_DISPATCH(median3_rows);
  const auto rows5 = &HWY_DYNAMIC_DISPATCH(median5_rows);
  for (int y = band.begin; y < band.end; y += 2) {
    const int first = y - band.begin;
    pad(first + 2 * r), pad(first + 2 * r + 1);
    const uint8_t* rows[kMedianRing];
    for (int i = 0; i < window; ++i) rows[i] = slot(first + i);
    uint8_t* second = y + 1 < band.end ? out.row(y + 1) : nullptr;
    if (r == 1)
      rows3(rows, bytes, in.channels(), out.row(y), second);
    else if (r == 2)
      rows5(rows, bytes, in.channels(), *reinterpret_cast<MedianColumns*>(sorted), out.row(y), second);
    else
      median7_rows(rows, bytes, in.channels(), *reinterpret_cast<MedianMerges*>(sorted), out.row(y), second);
  }
}

}  // namespace lensd
#endif
