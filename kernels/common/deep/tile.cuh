// Loads a tile of one channel of an image with 16 bits, with a border, into shared memory as floating-point
// numbers.
#pragma once

#include "kernels/common/border/border_call.cuh"
#include "kernels/common/deep/pixels.cuh"

namespace lensd {

/// The tile's inner part starts at pixel (x0, y0); rx and ry are the widths of its border.
struct DeepTileArea {
  int x0, y0, columns, rows, rx, ry;

  __device__ bool inside(Extent extent) const {
    return x0 >= rx && y0 >= ry && x0 + columns + rx <= extent.width && y0 + rows + ry <= extent.height;
  }
};

/// Implements load_deep_tile(). `kInside`: the tile and its border are inside the image. Loads samples of
/// several rows before it stores them, so that it waits for memory less often.
template <bool kInside, int kThreads>
__device__ void load_deep_rows(const ImageView<const uint16_t>& in, int step, int channel,
                               const DeepTileArea& area, Border border, float* tile, int pitch) {
  constexpr int kBatch = 4, kWarps = kThreads / 32;
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int left = area.x0 - area.rx, top = area.y0 - area.ry;
  const int columns = area.columns + 2 * area.rx, rows = area.rows + 2 * area.ry;
  const auto index = [border](int i, int n) { return kInside ? i : called_border_index(i, n, border); };
  for (int x = lane; x < columns; x += 32) {
    const int column = index(left + x, in.extent.width);
    for (int y = warp; y < rows; y += kBatch * kWarps) {
      uint16_t samples[kBatch] = {};
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (y + k * kWarps >= rows) continue;
        const int row = index(top + y + k * kWarps, in.extent.height);
        if (kInside || (row >= 0 && column >= 0)) samples[k] = in.row(row)[column * step + channel];
      }
#pragma unroll
      for (int k = 0; k < kBatch; ++k)
        if (y + k * kWarps < rows) tile[(y + k * kWarps) * pitch + x] = static_cast<float>(samples[k]);
    }
  }
}

/// Loads the samples of `channel` into `tile`, whose rows are `pitch` numbers apart. Samples outside the
/// image follow the border rule. Call with kThreads threads.
template <int kThreads>
__device__ void load_deep_tile(const ImageView<const uint16_t>& in, int step, int channel,
                               const DeepTileArea& area, Border border, float* tile, int pitch) {
  if (area.inside(in.extent))
    load_deep_rows<true, kThreads>(in, step, channel, area, border, tile, pitch);
  else
    load_deep_rows<false, kThreads>(in, step, channel, area, border, tile, pitch);
}

/// Writes a pixel: its colours, and in RGBA16 the alpha of `in`.
template <int kColours>
__device__ void store_deep_colours(const ImageView<const uint16_t>& in, const ImageView<uint16_t>& out, int x,
                                   int y, const uint16_t (&colours)[kColours], bool aligned) {
  if constexpr (kColours == 1)
    out.row(y)[x] = colours[0];
  else
    store_deep(out.row(y) + 4 * x, {{colours[0], colours[1], colours[2], in.row(y)[4 * x + 3]}}, aligned);
}

}  // namespace lensd
