// median up to radius 3 on the CPU: computes two output rows at a time from a ring of padded rows. Each
// sample is in its own lane; its neighbours of the same channel are `step` samples away.
#include "kernels/median/median.hpp"

#include <algorithm>

#include "core/device/memory.hpp"
#include "kernels/common/border/border_simd.hpp"
#include "kernels/common/samples.hpp"
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
/// Padding after a row, in bytes. Whole vectors may access it.
inline constexpr int kMedianSlack = 128;
inline constexpr int kMedianChunk = 1024;

/// Sorted columns of the windows of two output rows. They fit in the L1 cache.
template <class S>
struct MedianColumns {
  static constexpr int size = sizeof(S);
  static constexpr int chunk = kMedianChunk / size;  ///< samples of a row whose columns are sorted at a time
  S rows[2][5][chunk + 8 * kMedianNetworkRadius + kMedianSlack / size];
};

}  // namespace lensd
#endif

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/median/median_vectors-inl.hpp"

/// Computes two rows of 3×3 medians from four padded rows (one pixel of border left and right). `out1` may be
/// null.
template <class S>
HWY_INLINE void median3_samples(const S* const* rows, int n, int step, S* out0, S* out1) {
  const hn::ScalableTag<S> tag;
  const Samples<S> keep = alpha_mask<S>(step);
  const int lanes = static_cast<int>(hn::Lanes(tag));
  for (int i = 0; i < n; i += lanes) {
    Column3<Samples<S>> upper[3], lower[3];
    for (int k = 0; k < 3; ++k) {
      const int at = i + k * step;
      Samples<S> low = hn::LoadU(tag, rows[1] + at), high = hn::LoadU(tag, rows[2] + at);
      exchange(low, high);
      upper[k] = insert_3(low, high, hn::LoadU(tag, rows[0] + at));
      lower[k] = insert_3(low, high, hn::LoadU(tag, rows[3] + at));
    }
    const int centre = i + step;
    store_pixels<S>(median_of_columns(upper[0], upper[1], upper[2]), hn::LoadU(tag, rows[1] + centre), keep,
                    out0 + i, n - i);
    if (out1)
      store_pixels<S>(median_of_columns(lower[0], lower[1], lower[2]), hn::LoadU(tag, rows[2] + centre), keep,
                      out1 + i, n - i);
  }
}

/// Sorts `n` columns of six rows, starting at sample `from`. Stores two results for each column: its upper
/// five samples in columns.rows[0] and its lower five in columns.rows[1].
template <class S>
HWY_INLINE void sort_columns(const S* const* rows, int from, int n, MedianColumns<S>& columns) {
  const hn::ScalableTag<S> tag;
  const int lanes = static_cast<int>(hn::Lanes(tag));
  for (int i = 0; i < n; i += lanes) {
    const auto load = [&](int row) HWY_ATTR { return hn::LoadU(tag, rows[row] + from + i); };
    Samples<S> a = load(1), b = load(2), c = load(3), d = load(4);
    sort_4(a, b, c, d);
    const Column5<Samples<S>> upper = insert_5(a, b, c, d, load(0)), lower = insert_5(a, b, c, d, load(5));
    for (int k = 0; k < 5; ++k) {
      hn::StoreU(upper.v[k], tag, columns.rows[0][k] + i);
      hn::StoreU(lower.v[k], tag, columns.rows[1][k] + i);
    }
  }
}

/// Computes two rows of 5×5 medians from six padded rows (two pixels of border left and right). `out1` may be
/// null.
template <class S>
HWY_INLINE void median5_samples(const S* const* rows, int n, int step, MedianColumns<S>& columns, S* out0,
                                S* out1) {
  const hn::ScalableTag<S> tag;
  const Samples<S> keep = alpha_mask<S>(step);
  const int lanes = static_cast<int>(hn::Lanes(tag));
  for (int from = 0; from < n; from += MedianColumns<S>::chunk) {
    const int count = std::min(MedianColumns<S>::chunk, n - from);
    sort_columns(rows, from, count + 4 * step, columns);
    for (int half = 0; half < 2; ++half) {
      S* out = half == 0 ? out0 : out1;
      if (!out) continue;
      const auto column = [&](int i) HWY_ATTR {
        Column5<Samples<S>> c;
        for (int k = 0; k < 5; ++k) c.v[k] = hn::LoadU(tag, columns.rows[half][k] + i);
        return c;
      };
      for (int i = 0; i < count; i += lanes) {
        const auto four = rows_of_4(column(i), column(i + step), column(i + 2 * step), column(i + 3 * step));
        const Samples<S> centre = hn::LoadU(tag, rows[2 + half] + from + i + 2 * step);
        store_pixels<S>(median_of_rows(four, column(i + 4 * step)), centre, keep, out + from + i, count - i);
      }
    }
  }
}

void median3_bytes(const uint8_t* const* rows, int n, int step, uint8_t* out0, uint8_t* out1) {
  median3_samples<uint8_t>(rows, n, step, out0, out1);
}
void median3_deep(const uint16_t* const* rows, int n, int step, uint16_t* out0, uint16_t* out1) {
  median3_samples<uint16_t>(rows, n, step, out0, out1);
}
void median5_bytes(const uint8_t* const* rows, int n, int step, MedianColumns<uint8_t>& columns,
                   uint8_t* out0, uint8_t* out1) {
  median5_samples<uint8_t>(rows, n, step, columns, out0, out1);
}
void median5_deep(const uint16_t* const* rows, int n, int step, MedianColumns<uint16_t>& columns,
                  uint16_t* out0, uint16_t* out1) {
  median5_samples<uint16_t>(rows, n, step, columns, out0, out1);
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(median3_bytes);
HWY_EXPORT(median3_deep);
HWY_EXPORT(median5_bytes);
HWY_EXPORT(median5_deep);

namespace {

size_t padded_pitch(ImageFormat format) {
  const int border = 2 * kMedianMergeRadius * format.pixel_bytes();
  return align_up(format.row_bytes() + static_cast<size_t>(border) + kMedianSlack, kHostAlignment);
}

/// Filters two rows at a time. `median` computes them; it gets memory for sorted columns.
template <class S>
void run_rows(const PassArgs& args, Band band, int radius, Border border, const auto& median) {
  const ConstImageRef in = args.in[0];
  const ImageRef out = args.out;
  const size_t pitch = padded_pitch(in.format);
  uint8_t* const worker = args.worker;
  const int r = radius, window = 2 * r + 2;
  const auto slot = [&](int row) { return worker + static_cast<size_t>(row % window) * pitch; };
  const auto pad = [&](int row) {  // copies a row with its border; row 0 is image row band.begin − r
    copy_span(border_row(in, band.begin - r + row, border), in.width(), in.pixel_bytes(), -r, in.width() + r,
              border, slot(row));
  };
  for (int row = 0; row < 2 * r; ++row) pad(row);
  for (int y = band.begin; y < band.end; y += 2) {
    const int first = y - band.begin;
    pad(first + 2 * r), pad(first + 2 * r + 1);
    const S* rows[kMedianRing];
    for (int i = 0; i < window; ++i) rows[i] = reinterpret_cast<const S*>(slot(first + i));
    S* second = y + 1 < band.end ? out.samples<S>(y + 1) : nullptr;
    median(rows, static_cast<int>(in.format.row_samples()), in.channels(), worker + kMedianRing * pitch,
           out.samples<S>(y), second);
  }
}

}  // namespace

size_t Median::columns_worker_bytes(ImageFormat format) {
  const size_t sorted = with_sample_type(
      format.format, []<class S>() { return std::max(sizeof(MedianColumns<S>), sizeof(MedianMerges<S>)); });
  return kMedianRing * padded_pitch(format) + sorted;
}

void Median::run_columns(const PassArgs& args, Band band) const {
  with_sample_type(args.out.format.format, [&]<class S>() {
    constexpr bool kDeep = sizeof(S) == 2;
    const auto rows3 = [] {
      if constexpr (kDeep)
        return &HWY_DYNAMIC_DISPATCH(median3_deep);
      else
        return &HWY_DYNAMIC_DISPATCH(median3_bytes);
    }();
    const auto rows5 = [] {
      if constexpr (kDeep)
        return &HWY_DYNAMIC_DISPATCH(median5_deep);
      else
        return &HWY_DYNAMIC_DISPATCH(median5_bytes);
    }();
    run_rows<S>(args, band, radius_, block_of(args).border,
                [&](const S* const* rows, int n, int step, uint8_t* sorted, S* first, S* second) {
                  if (radius_ == 1)
                    rows3(rows, n, step, first, second);
                  else if (radius_ == 2)
                    rows5(rows, n, step, *reinterpret_cast<MedianColumns<S>*>(sorted), first, second);
                  else
                    median7_rows(rows, n, step, *reinterpret_cast<MedianMerges<S>*>(sorted), first, second);
                });
  });
}

}  // namespace lensd
#endif
