// Copies a strip of an image asynchronously into a ring in shared memory, in stages of 16 rows with a margin
// on both sides. Pixels outside follow the border rule. RGBA stays interleaved.
//
// For each stage, all 128 threads of the block call StageFeed::fetch(), close_stage(), await_stages() and
// __syncthreads(). If StageSource::edge() is true, they then call fill_sides() and __syncthreads() again.
#pragma once

#include <type_traits>

#include "kernels/common/border/border.hpp"
#include "kernels/common/bytes16.cuh"
#include "kernels/common/launch.cuh"

namespace lensd {

inline constexpr int kStageRows = 16, kStageThreads = 128;
inline constexpr int kStagesAhead = 3;  ///< stages that are being copied while one is read

/// Layout of a stage: `kTile` pixels of `kChannels` bytes across, and `kHalo` pixels on both sides.
template <int kChannels, int kTile, int kHalo>
struct StageShape {
  static constexpr int channels = kChannels, tile_w = kTile, halo = kHalo;
  static constexpr int margin = kChannels == 1 ? (kHalo + 15) / 16 * 16 : kHalo;  ///< pixels on each side
  /// Number of 16-byte chunks of a row.
  static constexpr int chunks = (kTile + 2 * margin) * kChannels / 16;
  static constexpr int slots = (chunks + 7) / 8;  ///< maximum number of chunks that a thread copies
  /// With this pitch, the 8 rows of 16 pixels that a warp reads at once are in different banks.
  static constexpr int pitch = kChannels == 1 ? 16 * (chunks | 1) : 16 * chunks + (chunks % 8 == 4 ? 0 : 64);
  static constexpr int bytes = kStageRows * pitch;
};

/// Starts copying `bytes` bytes (0 to 16) to shared memory; sets the rest of the 16 bytes at `to` to 0.
__device__ inline void copy16_async(void* to, const void* from, int bytes = 16) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes)
               : "memory");
#else
  const auto* begin = static_cast<const uint8_t*>(from);
  *static_cast<uint4*>(to) = load16(begin, begin, begin + bytes);
#endif
}
__device__ inline void close_stage() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits for all of this thread's stages except the last `kOpen`.
template <int kOpen>
__device__ inline void await_stages() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kOpen) : "memory");
#endif
}

/// An image and the tile's position in it.
template <class Shape>
struct StageSource {
  ImageView<const uint8_t> in;
  Border border;
  bool wide;  ///< rows start at multiples of 16 bytes
  int x0;     ///< first column of the tile

  /// Returns true if the tile's halo extends beyond the left or right side of the picture.
  __device__ bool edge() const {
    return x0 < Shape::halo || x0 + Shape::tile_w + Shape::halo > in.extent.width;
  }
};

/// One thread's part of each stage: every eighth chunk of row threadIdx.x / 8.
template <class Shape>
struct StageFeed {
  bool inner;           ///< all columns are inside the picture, in aligned 16-byte chunks
  int y;                ///< first row of the next stage
  const uint8_t* from;  ///< the thread's first chunk of the next stage

  __device__ static int row() { return static_cast<int>(threadIdx.x) / 8; }
  __device__ static int chunk() { return static_cast<int>(threadIdx.x) % 8; }
  __device__ static bool takes(int slot) {
    return 8 * slot + 8 <= Shape::chunks || chunk() < Shape::chunks % 8;
  }
  /// Returns the offset of the thread's first chunk in a stage.
  __device__ static int offset() { return row() * Shape::pitch + 16 * chunk(); }

  __device__ StageFeed(const StageSource<Shape>& source, int y0)
      : inner(source.wide && source.x0 >= Shape::margin &&
              source.x0 + Shape::tile_w + Shape::margin <= source.in.extent.width),
        y(y0),
        from(source.in.row(y0 + row()) + (source.x0 - Shape::margin) * Shape::channels + 16 * chunk()) {}

  __device__ void fetch(const StageSource<Shape>& source, uint8_t* stage);
  __device__ void skip(const StageSource<Shape>& source) {
    y += kStageRows, from += kStageRows * source.in.pitch_bytes;
  }
};

/// Starts copying rows y to y + 15 by the border rule, except columns outside the picture.
template <class Shape>
__device__ __noinline__ void fetch_bordered(const StageSource<Shape>& source, int y, uint8_t* to) {
  using Feed = StageFeed<Shape>;
  const int row_bytes = source.in.extent.width * Shape::channels;
  const int at = border_index(y + Feed::row(), source.in.extent.height, source.border);
  const uint8_t* from = source.in.row(max(at, 0));
  for (int k = 0; k < Shape::slots; ++k) {
    const int x = (source.x0 - Shape::margin) * Shape::channels + 16 * (Feed::chunk() + 8 * k);
    if (!Feed::takes(k) || x < 0 || x >= row_bytes) continue;
    const int bytes = at < 0 ? 0 : min(16, row_bytes - x);
    if (source.wide)
      copy16_async(to + 128 * k, from + x, bytes);
    else
      *reinterpret_cast<uint4*>(to + 128 * k) = load16(from + x, from, from + x + bytes);
  }
}

/// Starts copying the next stage of `source` to `stage`.
template <class Shape>
__device__ void StageFeed<Shape>::fetch(const StageSource<Shape>& source, uint8_t* stage) {
  uint8_t* to = stage + offset();
  if (inner && y >= 0 && y + kStageRows <= source.in.extent.height) {
#pragma unroll
    for (int k = 0; k < Shape::slots; ++k)
      if (takes(k)) copy16_async(to + 128 * k, from + 128 * k);
  } else {
    fetch_bordered<Shape>(source, y, to);
  }
  skip(source);
}

/// Fills the columns beyond the picture's sides in a copied stage, whose first row is y. Except for
/// Border::wrap, the border rule refers only to pixels that are already in the tile.
template <class Shape>
__device__ __noinline__ void fill_sides(const StageSource<Shape>& source, int y, uint8_t* stage) {
  using Pixel = std::conditional_t<Shape::channels == 1, uint8_t, uint32_t>;
  const int width = source.in.extent.width, x0 = source.x0;
  const int left = max(0, Shape::halo - x0), first = x0 - Shape::halo;
  const int right = max(0, min(x0 + Shape::tile_w, width) + Shape::halo - width), beyond = left + right;
  for (int i = static_cast<int>(threadIdx.x); i < kStageRows * beyond; i += kStageThreads) {
    const int row = i / beyond, k = i - row * beyond;
    const int x = k < left ? first + k : width + k - left, at = border_index(x, width, source.border);
    auto* line = reinterpret_cast<Pixel*>(stage + row * Shape::pitch) + Shape::margin - x0;
    Pixel value = 0;
    if (source.border == Border::wrap) {
      const uint8_t* from = source.in.row(border_index(y + row, source.in.extent.height, source.border));
      if constexpr (Shape::channels == 1)
        value = from[at];
      else
        value = load_word(from + 4 * at, source.wide);
    } else if (at >= 0) {
      value = line[at];
    }
    line[x] = value;
  }
}

/// Writes the four pixels at `at` to `planes`, one word per colour plane.
template <int kChannels>
__device__ inline void planes_of_four(const uint8_t* at, uint32_t (&planes)[kChannels == 1 ? 1 : 3]) {
  if constexpr (kChannels == 1) {
    planes[0] = *reinterpret_cast<const uint32_t*>(at);
  } else {
    const uint4 px = *reinterpret_cast<const uint4*>(at);
    const uint32_t ab = __byte_perm(px.x, px.y, 0x5140), cd = __byte_perm(px.z, px.w, 0x5140);
    planes[0] = __byte_perm(ab, cd, 0x5410);
    planes[1] = __byte_perm(ab, cd, 0x7632);
    planes[2] = __byte_perm(__byte_perm(px.x, px.y, 0x0062), __byte_perm(px.z, px.w, 0x0062), 0x5410);
  }
}

/// Interleaves the colour planes of four pixels; alpha comes from `in`.
__device__ inline uint4 pixels_of_planes(const uint32_t (&planes)[3], const uint4& in) {
  const uint32_t rg0 = __byte_perm(planes[0], planes[1], 0x5140),
                 rg2 = __byte_perm(planes[0], planes[1], 0x7362);
  const uint32_t ba0 = __byte_perm(planes[2], __byte_perm(in.x, in.y, 0x0073), 0x5140),
                 ba2 = __byte_perm(planes[2], __byte_perm(in.z, in.w, 0x7300), 0x7362);
  return make_uint4(__byte_perm(rg0, ba0, 0x5410), __byte_perm(rg0, ba0, 0x7632),
                    __byte_perm(rg2, ba2, 0x5410), __byte_perm(rg2, ba2, 0x7632));
}

/// Stores four pixels, starting at (x, y), except those outside the picture. `aligned`: output rows are
/// aligned to 4 bytes.
__device__ __noinline__ inline void store_bordered(const ImageView<uint8_t>& out, int x, int y, bool aligned,
                                                   uint32_t gray) {
  if (y < out.extent.height && x < out.extent.width)
    store_bytes(out.row(y) + x, gray, min(4, out.extent.width - x), aligned);
}
__device__ __noinline__ inline void store_bordered(const ImageView<uint8_t>& out, int x, int y, bool aligned,
                                                   uint4 colour) {
  if (y >= out.extent.height) return;
  const uint32_t words[4] = {colour.x, colour.y, colour.z, colour.w};
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (x + i < out.extent.width) store_word(out.row(y) + 4 * (x + i), words[i], aligned);
}

}  // namespace lensd
