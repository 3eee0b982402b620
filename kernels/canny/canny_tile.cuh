// Hysteresis on the device: tiles of 32 × 32 pixels as bit masks, one row per lane, and union-find over the
// weak pixels on the tiles' borders.
//
// Pixels are indexed tile by tile; a label is a pixel's index + 1, and label 0 means "strong". A parent's
// label is never greater than its child's, so joining with atomicMin terminates. Hysteresis keeps the
// component of label 0. Only border pixels and their local roots have entries in `parents`.
#pragma once

#include "kernels/canny/canny.hpp"
#include "kernels/common/launch.cuh"

namespace lensd {

struct CannyMasks {
  uint32_t *strong, *weak;  ///< 32 words per tile, one per row
  uint32_t* parents;        ///< labels of parents, 1024 per tile
  int columns, rows;        ///< number of tiles across and down

  __device__ int tile(int column, int row) const { return row * columns + column; }
};

/// Returns the root of `label`.
__device__ inline uint32_t canny_root(const volatile uint32_t* parents, uint32_t label) {
  while (label != 0) {
    const uint32_t parent = parents[label - 1];
    if (parent == label) break;
    label = parent;
  }
  return label;
}

__device__ inline void canny_unite(uint32_t* parents, uint32_t a, uint32_t b) {
  for (;;) {
    a = canny_root(parents, a), b = canny_root(parents, b);
    if (a == b) return;
    const uint32_t child = max(a, b), parent = min(a, b);
    const uint32_t old = atomicMin(&parents[child - 1], parent);
    if (old == child) return;
    a = old, b = parent;  // another thread changed the child's parent
  }
}

/// Returns `seeds` and, for each run of ones in `mask`, the bits above its lowest seed. `seeds` is a subset
/// of `mask`.
__device__ inline uint32_t canny_fill_up(uint32_t seeds, uint32_t mask) {
  return (mask & ~(mask + seeds)) | seeds;
}

/// Floods a tile from its strong pixels through weak ones; `strong` and `weak` are the lane's row. Returns
/// the lane's row of strong pixels. Call from all lanes of the warp.
__device__ inline uint32_t canny_flood(uint32_t strong, uint32_t weak) {
  const int lane = static_cast<int>(threadIdx.x & 31);
  const uint32_t mask = strong | weak;
  for (;;) {
    const uint32_t above = __shfl_up_sync(~0u, strong, 1), below = __shfl_down_sync(~0u, strong, 1);
    uint32_t next = strong | (lane > 0 ? above : 0) | (lane < 31 ? below : 0);
    next = (next | next << 1 | next >> 1) & mask;
    next = canny_fill_up(next, mask);
    next = __brev(canny_fill_up(__brev(next), __brev(mask)));
    const bool changed = next != strong;
    strong = next;
    if (!__any_sync(~0u, changed)) return strong;
  }
}

/// Returns the first bit of the run of ones in `mask` that contains `bit`.
__device__ inline int canny_run_start(uint32_t mask, int bit) {
  const uint32_t starts = mask & ~(mask << 1) & (~0u >> (31 - bit));
  return 31 - __clz(static_cast<int>(starts));
}

/// Labels the components of a tile's weak pixels. First unites runs of adjacent rows in `local`, which is
/// shared memory with labels by position in the tile. Then enters the border pixels and their roots in
/// `parents`. `weak` is the lane's row, `base` the index of the tile's first pixel. Call from all lanes of
/// the warp.
__device__ inline void canny_label(uint32_t weak, uint32_t* local, uint32_t* parents, uint32_t base) {
  const int lane = static_cast<int>(threadIdx.x & 31);
  if (!__any_sync(~0u, weak != 0)) return;
  for (uint32_t starts = weak & ~(weak << 1); starts; starts &= starts - 1) {
    const uint32_t at = static_cast<uint32_t>(lane * 32 + __ffs(static_cast<int>(starts)) - 1);
    local[at] = at + 1;
  }
  __syncwarp();
  uint32_t above = __shfl_up_sync(~0u, weak, 1);
  if (lane == 0) above = 0;
  for (uint32_t rest = weak; rest;) {
    const int start = __ffs(static_cast<int>(rest)) - 1;
    const uint32_t run = canny_fill_up(1u << start, weak) & rest;
    rest &= ~run;
    uint32_t touched = above & (run | run << 1 | run >> 1);
    while (touched) {
      const int bit = __ffs(static_cast<int>(touched)) - 1;
      canny_unite(local, static_cast<uint32_t>(lane * 32 + start + 1),
                  static_cast<uint32_t>((lane - 1) * 32 + canny_run_start(above, bit) + 1));
      touched &= ~canny_fill_up(1u << bit, above);
    }
  }
  __syncwarp();
  const auto label = [&](uint32_t mask, int x, int y) {
    if (!(mask >> x & 1)) return;
    const uint32_t root = canny_root(local, static_cast<uint32_t>(y * 32 + canny_run_start(mask, x) + 1));
    parents[base + static_cast<uint32_t>(y * 32 + x)] = base + root;
    parents[base + root - 1] = base + root;
  };
  label(weak, 0, lane);
  label(weak, 31, lane);
  label(__shfl_sync(~0u, weak, 0), lane, 0);
  label(__shfl_sync(~0u, weak, 31), lane, 31);
}

/// Class and index of a pixel on a tile's border.
struct CannyPixel {
  bool weak, strong;
  uint32_t index;
};

/// Masks of a tile, one row per lane; empty outside the image. Call at() from all lanes of the warp.
struct CannyRim {
  uint32_t weak = 0, strong = 0, base = 0;

  __device__ CannyRim(const CannyMasks& masks, int column, int row, int lane) {
    if (column < 0 || row < 0 || column >= masks.columns || row >= masks.rows) return;
    const int tile = masks.tile(column, row);
    base = static_cast<uint32_t>(tile) * 1024;
    weak = masks.weak[tile * 32 + lane], strong = masks.strong[tile * 32 + lane];
  }
  /// Returns the pixel at (x, y); coordinates wrap around at the tile's sides.
  __device__ CannyPixel at(int x, int y) const {
    x &= 31, y &= 31;
    const uint32_t w = __shfl_sync(~0u, weak, y), s = __shfl_sync(~0u, strong, y);
    return {(w >> x & 1) != 0, (s >> x & 1) != 0, base + static_cast<uint32_t>(y * 32 + x)};
  }
};

__device__ inline void canny_join(const CannyMasks& masks, const CannyPixel& p, const CannyPixel& q) {
  if (p.weak && q.weak) canny_unite(masks.parents, p.index + 1, q.index + 1);
  if (p.weak && q.strong) canny_unite(masks.parents, p.index + 1, 0);
  if (p.strong && q.weak) canny_unite(masks.parents, q.index + 1, 0);
}

/// Joins `p` with three adjacent pixels outside its tile. If `middle` is weak or strong, the outer two are
/// adjacent to it and need no join.
__device__ inline void canny_join(const CannyMasks& masks, const CannyPixel& p, const CannyPixel& before,
                                  const CannyPixel& middle, const CannyPixel& after) {
  canny_join(masks, p, middle);
  if (middle.weak || middle.strong) return;
  canny_join(masks, p, before);
  canny_join(masks, p, after);
}

/// Returns the lane's row of the tile's strong pixels after a flood from those that the join made strong.
/// Call from all lanes of the warp.
__device__ inline uint32_t canny_joined(const CannyMasks& masks, int column, int row, int lane) {
  const CannyRim own(masks, column, row, lane);
  uint32_t strong = own.strong;
  if (__any_sync(~0u, own.weak != 0)) {
    const auto reached = [&](int x, int y) {
      const CannyPixel p = own.at(x, y);
      return p.weak && canny_root(masks.parents, p.index + 1) == 0;
    };
    uint32_t seeds = strong | (reached(0, lane) ? 1u : 0u) | (reached(31, lane) ? 1u << 31 : 0u);
    const uint32_t top = __ballot_sync(~0u, reached(lane, 0)), bottom = __ballot_sync(~0u, reached(lane, 31));
    if (lane == 0) seeds |= top;
    if (lane == 31) seeds |= bottom;
    strong = canny_flood(seeds, own.weak);
  }
  return strong;
}

inline CannyMasks masks_of(const PassArgs& args) {
  const CannyTiles tiles(args.out.format.extent);
  const auto words = [&](size_t i) { return reinterpret_cast<uint32_t*>(args.scratch[i]); };
  return {words(0), words(1), words(2), tiles.columns, tiles.rows};
}
/// Returns a grid with one block per CannyTiles::across tiles.
inline dim3 grid_of(const CannyMasks& masks) {
  return {static_cast<unsigned>(masks.columns / CannyTiles::across), static_cast<unsigned>(masks.rows)};
}

}  // namespace lensd
