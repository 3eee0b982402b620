// Tiles of 16-bit images in shared memory, one plane for each colour channel. Tiles are loaded with their
// border and converted to floats. Results are stored from planes of 16-bit samples.
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

/// Planes in shared memory. `data` is aligned to 16 bytes. `pitch` and `plane` are the distances between rows
/// and between planes in floats; `pitch` is a multiple of 4. Loads may also write up to three floats before
/// and after each row. So three floats must exist before the first row, and `pitch` must be at least the
/// tile's columns + 3.
struct DeepPlanes {
  float* data;
  int pitch, plane;
};

/// An RGBA pixel or four grey samples, in memory order.
template <int kChannels>
struct DeepGroup {
  static constexpr int pixels = kChannels == 1 ? 4 : 1, colours = kChannels == 1 ? 4 : 3;
  uint2 words;

  __device__ int sample(int i) const {
    return static_cast<int>(__byte_perm(i < 2 ? words.x : words.y, 0, i % 2 == 0 ? 0x4410 : 0x4432));
  }
  /// Converts a sample exactly. In [2^23, 2^24) a float's mantissa is the integer; I2F is a slow instruction.
  __device__ float number(int i) const {
    const uint32_t word = i < 2 ? words.x : words.y;
    return __uint_as_float(__byte_perm(word, 0x4b000000, i % 2 == 0 ? 0x7610 : 0x7632)) - 8388608.f;
  }
};

__device__ inline uint2 load_deep_words(const uint16_t* p, bool aligned) {
  if (aligned) return *reinterpret_cast<const uint2*>(p);
  return make_uint2(p[0] | static_cast<uint32_t>(p[1]) << 16, p[2] | static_cast<uint32_t>(p[3]) << 16);
}

/// Returns the group at column x of row y. Columns outside the image follow the border rule. `y` must be a
/// row of the image, or −1 for the zero rows of Border::constant.
template <int kChannels>
__device__ uint2 load_deep_bordered(const DeepJob& job, int x, int y, Border border) {
  const int width = job.in.extent.width;
  if (y < 0) return make_uint2(0, 0);
  const uint16_t* const from = job.in.row(y);
  if constexpr (kChannels == 4) {
    const int column = called_border_index(x, width, border);
    return column < 0 ? make_uint2(0, 0) : load_deep_words(from + 4 * column, job.in_aligned);
  } else {
    if (x >= 0 && x + 4 <= width) return load_deep_words(from + x, job.in_aligned);
    uint32_t samples[4];
    for (int i = 0; i < 4; ++i) {
      const int column = called_border_index(x + i, width, border);
      samples[i] = column < 0 ? 0 : from[column];
    }
    return make_uint2(samples[0] | samples[1] << 16, samples[2] | samples[3] << 16);
  }
}

/// Implements load_deep_tile(). Grey images are loaded at columns that are multiples of 4. `kFast`: the tile
/// is inside an aligned image. A thread loads up to eight groups before it stores them, which overlaps the
/// latencies of the loads.
template <int kChannels, int kThreads, bool kFast>
__device__ void load_deep_groups(const DeepJob& job, const DeepTileArea& area, Border border,
                                 const DeepPlanes& to) {
  using Group = DeepGroup<kChannels>;
  constexpr int kLanes = kChannels == 1 ? 8 : 16;  // threads that load a row
  constexpr int kAcross = 4, kDown = 2, kStep = kThreads / kLanes;
  const int t = static_cast<int>(threadIdx.x), first = area.x & -Group::pixels, skipped = area.x - first;
  const int groups = (skipped + area.columns + Group::pixels - 1) / Group::pixels;
  for (int row = t / kLanes; row < area.rows; row += kDown * kStep) {
    for (int group = t % kLanes; group < groups; group += kAcross * kLanes) {
      Group samples[kDown][kAcross];
#pragma unroll
      for (int j = 0; j < kDown; ++j) {
        const int below = row + j * kStep, y = area.y + below, x = first + Group::pixels * group;
        const int source =
            kFast || below >= area.rows ? y : called_border_index(y, job.in.extent.height, border);
#pragma unroll
        for (int i = 0; i < kAcross; ++i) {
          if (below >= area.rows || group + i * kLanes >= groups) continue;
          const int column = x + i * kLanes * Group::pixels;
          if constexpr (kFast)
            samples[j][i].words = load_deep_words(job.in.row(source) + kChannels * column, true);
          else
            samples[j][i].words = load_deep_bordered<kChannels>(job, column, source, border);
        }
      }
#pragma unroll
      for (int j = 0; j < kDown; ++j)
#pragma unroll
        for (int i = 0; i < kAcross; ++i) {
          if (row + j * kStep >= area.rows || group + i * kLanes >= groups) continue;
          const Group& v = samples[j][i];
          float* const place =
              to.data + (row + j * kStep) * to.pitch + (group + i * kLanes) * Group::pixels - skipped;
          if (kChannels == 1 && skipped == 0) {
            *reinterpret_cast<float4*>(place) =
                make_float4(v.number(0), v.number(1), v.number(2), v.number(3));
            continue;
          }
#pragma unroll
          for (int k = 0; k < Group::colours; ++k) place[kChannels == 1 ? k : k * to.plane] = v.number(k);
        }
    }
  }
}

/// Loads the area's samples into `to`. Call from kThreads threads; the caller synchronises.
template <int kChannels, int kThreads>
__device__ void load_deep_tile(const DeepJob& job, const DeepTileArea& area, Border border,
                               const DeepPlanes& to) {
  const Extent extent = job.in.extent;
  const bool fast = job.in_aligned && area.x >= 0 && area.y >= 0 &&
                    area.x + area.columns + 3 <= extent.width && area.y + area.rows <= extent.height;
  if (fast)
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
/// aligned to 8 bytes. x0 and kColumns are multiples of 4. Call from kThreads threads.
template <int kChannels, int kThreads, int kColumns, int kRows, class Finish>
__device__ void store_deep_tile(const DeepJob& job, int x0, int y0, const uint16_t* computed,
                                const Finish& finish) {
  using Group = DeepGroup<kChannels>;
  constexpr int kGroups = kColumns / Group::pixels, kStep = kThreads / kGroups;
  constexpr int kBatch = kChannels == 1 ? 4 : 3;
  static_assert(kThreads % kGroups == 0);
  const int t = static_cast<int>(threadIdx.x), column = t % kGroups * Group::pixels, x = x0 + column;
  const int first = t / kGroups, left = job.out.extent.width - x;
  const int rows = min(kRows, job.out.extent.height - y0);
  if (left <= 0) return;
  const auto value = [&](int row, int i) -> int {
    return computed[row * kColumns + column + (kChannels == 1 ? i : i * kColumns * kRows)];
  };
  if (left < Group::pixels) {
    for (int row = first; row < rows; row += kStep)
      for (int i = 0; i < left; ++i)
        job.out.row(y0 + row)[x + i] =
            static_cast<uint16_t>(finish(job.in.row(y0 + row)[x + i], value(row, i)));
    return;
  }
  for (int row = first; row < rows; row += kBatch * kStep) {
    Group inputs[kBatch];  // loaded first, so that the loads overlap
    const auto load = [&](bool aligned) {
#pragma unroll
      for (int k = 0; k < kBatch; ++k)
        if (row + k * kStep < rows) {
          const uint16_t* const from = job.in.row(y0 + row + k * kStep) + kChannels * x;
          if constexpr (Finish::needs_input)
            inputs[k].words = load_deep_words(from, aligned);
          else if constexpr (kChannels == 4)
            inputs[k].words.y = static_cast<uint32_t>(from[3]) << 16;
        }
    };
    if (!Finish::needs_input || job.in_aligned)
      load(true);
    else
      load(false);
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (row + k * kStep >= rows) continue;
      DeepPixel v;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int in = Finish::needs_input || (kChannels == 4 && i == 3) ? inputs[k].sample(i) : 0;
        v.v[i] = static_cast<uint16_t>(i < Group::colours ? finish(in, value(row + k * kStep, i)) : in);
      }
      store_deep(job.out.row(y0 + row + k * kStep) + kChannels * x, v, job.out_aligned);
    }
  }
}

}  // namespace lensd
