// Tiles of images with 16 bits in shared memory, one plane for each colour channel. Tiles are loaded with a
// border as floating-point numbers, and the results are stored from planes of samples.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "kernels/common/border/border_call.cuh"
#include "kernels/common/deep/pixels.cuh"

namespace lensd {

/// Number of colour planes of an image with `kChannels` samples per pixel.
template <int kChannels>
inline constexpr int kDeepColours = kChannels == 4 ? 3 : 1;

/// Input and output of a kernel. `…_aligned`: rows are aligned to 8 bytes.
struct DeepJob {
  ImageView<const uint16_t> in;
  ImageView<uint16_t> out;
  bool in_aligned, out_aligned;

  DeepJob(const ConstImageRef& from, const ImageRef& to)
      : in(from.as<const uint16_t>()),
        out(to.as<uint16_t>()),
        in_aligned(rows_aligned(from, 8)),
        out_aligned(rows_aligned(to, 8)) {}
};

/// Position and size of a tile, including its border. Positions outside the image follow the border rule.
struct DeepTileArea {
  int x, y, columns, rows;
};

/// Planes in shared memory. `data` is aligned to 16 bytes, `pitch` (of rows) is a multiple of 4. Loads may
/// also write up to three numbers before and after each row, so three numbers before the first row must
/// exist and `pitch` must exceed the tile's columns by three.
struct DeepPlanes {
  float* data;
  int pitch, plane;
};

/// Converts a sample exactly. In [2^23, 2^24) a float's mantissa is the integer; I2F is a slow instruction.
__device__ inline float deep_number(uint16_t v) {
  return __uint_as_float(0x4b000000u | v) - 8388608.f;
}

/// Returns RGBA pixel x, or grey samples x to x + 3, of row y by the border rule.
template <int kChannels>
__device__ DeepPixel load_deep_bordered(const DeepJob& job, int x, int y, Border border) {
  constexpr int kPixels = kChannels == 1 ? 4 : 1;
  const Extent extent = job.in.extent;
  const int row = called_border_index(y, extent.height, border);
  DeepPixel v{};
  if (row < 0) return v;
  const uint16_t* const from = job.in.row(row);
  if (x >= 0 && x + kPixels <= extent.width) return load_deep(from + kChannels * x, job.in_aligned);
  for (int i = 0; i < kPixels; ++i) {
    const int column = called_border_index(x + i, extent.width, border);
    if (column < 0) continue;
    if constexpr (kChannels == 1)
      v.v[i] = from[column];
    else
      v = load_deep(from + 4 * column, job.in_aligned);
  }
  return v;
}

/// Implements load_deep_tile(). In grey images, x of loads is a multiple of 4. A thread loads several groups
/// of samples before it stores them, so that it waits for memory less often.
template <int kChannels, int kThreads, bool kInside>
__device__ void load_deep_groups(const DeepJob& job, const DeepTileArea& area, Border border,
                                 const DeepPlanes& to) {
  constexpr int kPixels = kChannels == 1 ? 4 : 1, kBatch = 4;
  const int first = area.x & -kPixels, skipped = area.x - first;
  const int groups = (skipped + area.columns + kPixels - 1) / kPixels;
  const int down = kThreads / groups, right = kThreads - down * groups;
  int row = static_cast<int>(threadIdx.x) / groups, group = static_cast<int>(threadIdx.x) - row * groups;
  while (row < area.rows) {
    DeepPixel samples[kBatch];
    int places[kBatch];  // relative to to.data
    int count = 0;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (row >= area.rows) continue;
      count = k + 1;
      places[k] = row * to.pitch + kPixels * group - skipped;
      const int x = first + kPixels * group, y = area.y + row;
      samples[k] = kInside ? load_deep(job.in.row(y) + kChannels * x, job.in_aligned)
                           : load_deep_bordered<kChannels>(job, x, y, border);
      row += down, group += right;
      if (group >= groups) group -= groups, ++row;
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (k >= count) continue;
      const uint16_t(&v)[4] = samples[k].v;
      float* const place = to.data + places[k];
      if (kChannels == 1 && skipped == 0) {
        *reinterpret_cast<float4*>(place) =
            make_float4(deep_number(v[0]), deep_number(v[1]), deep_number(v[2]), deep_number(v[3]));
        continue;
      }
#pragma unroll
      for (int i = 0; i < (kChannels == 1 ? 4 : 3); ++i)
        place[kChannels == 1 ? i : i * to.plane] = deep_number(v[i]);
    }
  }
}

/// Loads the area's samples into `to`. Call with kThreads threads; the caller synchronises.
template <int kChannels, int kThreads>
__device__ void load_deep_tile(const DeepJob& job, const DeepTileArea& area, Border border,
                               const DeepPlanes& to) {
  const Extent extent = job.in.extent;
  const bool inside = area.x >= 0 && area.y >= 0 && area.x + area.columns + 3 <= extent.width &&
                      area.y + area.rows <= extent.height;
  if (inside)
    load_deep_groups<kChannels, kThreads, true>(job, area, border, to);
  else
    load_deep_groups<kChannels, kThreads, false>(job, area, border, to);
}

/// Returns computed samples unchanged.
struct KeepDeep {
  static constexpr bool needs_input = false;
  __device__ int operator()(int, int computed) const { return computed; }
};

/// Writes the samples finish(in, computed) of a tile whose inner part is at (x0, y0); alpha is copied from
/// the input. `computed` is one plane of kColumns × kRows samples per colour channel in shared memory,
/// aligned to 8 bytes. x0 and kColumns are multiples of 4. Call with kThreads threads.
template <int kChannels, int kThreads, int kColumns, int kRows, class Finish>
__device__ void store_deep_tile(const DeepJob& job, int x0, int y0, const uint16_t* computed,
                                const Finish& finish) {
  constexpr int kPixels = kChannels == 1 ? 4 : 1, kGroups = kColumns / kPixels;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kGroups; i += kThreads) {
    const int row = i / kGroups, column = i % kGroups * kPixels, x = x0 + column, y = y0 + row;
    const int left = job.out.extent.width - x;
    if (left <= 0 || y >= job.out.extent.height) continue;
    const uint16_t* const from = job.in.row(y) + kChannels * x;
    uint16_t* const to = job.out.row(y) + kChannels * x;
    const uint16_t* const values = computed + row * kColumns + column;
    if (left < kPixels) {
      for (int k = 0; k < left; ++k) to[k] = static_cast<uint16_t>(finish(from[k], values[k]));
      continue;
    }
    DeepPixel v{};
    if (kChannels == 4 || Finish::needs_input) v = load_deep(from, job.in_aligned);
    const DeepPixel grey = kChannels == 1 ? load_deep(values, true) : DeepPixel{};
#pragma unroll
    for (int k = 0; k < (kChannels == 1 ? 4 : 3); ++k)
      v.v[k] =
          static_cast<uint16_t>(finish(v.v[k], kChannels == 1 ? grey.v[k] : values[k * kColumns * kRows]));
    store_deep(to, v, job.out_aligned);
  }
}

}  // namespace lensd
