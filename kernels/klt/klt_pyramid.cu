#include <type_traits>

#include "kernels/common/chunk.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/klt/klt.hpp"

namespace lensd {
namespace {

// ----------------------------------------------------------------------------------------------- luma

/// A thread writes 16 pixels of a row.
struct KltLumaTuning {
  static constexpr int threads = 128, pixels = 16;
};

__device__ uint32_t klt_luma_word(const LumaBlock& w, const uint8_t* rgba, int count, bool aligned) {
  uint32_t word = 0;
  for (int i = 0; i < 4 && i < count; ++i) {
    const uint32_t p = load_word(rgba + 4 * i, aligned);
    word |= static_cast<uint32_t>(luma(w, p & 255, p >> 8 & 255, p >> 16 & 255)) << (8 * i);
  }
  return word;
}

__global__ void klt_luma_kernel(ImageView<const uint8_t> in, bool colour, bool aligned, bool wide,
                                KltShape shape, KltState state, const KltBlock* block) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * KltLumaTuning::pixels;
  const int y = static_cast<int>(blockIdx.y), left = in.extent.width - x;
  if (left <= 0) return;
  uint8_t* to = shape.view<uint8_t>(state.after(), 0).row(y) + x;
  if (!colour && wide && left >= KltLumaTuning::pixels) {
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(in.row(y) + x);
    return;
  }
  for (int i = 0; i < 16 && i < left; i += 4) {
    uint32_t word = 0;
    if (colour) {
      word = klt_luma_word(block->luma, in.row(y) + 4 * (x + i), left - i, aligned);
    } else {
      for (int k = 0; k < 4 && i + k < left; ++k)
        word |= static_cast<uint32_t>(in.row(y)[x + i + k]) << (8 * k);
    }
    store_bytes(to + i, word, left - i, true);
  }
}

/// A thread computes the 16-bit luma of one chunk in each of `rows` rows.
struct KltDeepLumaTuning {
  static constexpr int rows = 4;
};

__global__ void klt_deep_luma_kernel(ImageView<const uint8_t> in, int row_bytes, bool colour, bool aligned,
                                     KltShape shape, KltState state, const KltBlock* block) {
  const int x = chunk_x(), left = row_bytes - x;
  if (left <= 0) return;
  const ImageView<uint16_t> level = shape.view<uint16_t>(state.after(), 0);
  const LumaBlock weights = block->luma;
#pragma unroll
  for (int i = 0; i < KltDeepLumaTuning::rows; ++i) {
    const int y =
        static_cast<int>((blockIdx.y * KltDeepLumaTuning::rows + i) * ChunkShape::rows + threadIdx.y);
    if (y >= in.extent.height) return;
    Chunk chunk = load_chunk(in.row(y) + x, left, aligned);
    uint8_t* to = reinterpret_cast<uint8_t*>(level.row(y));
    if (colour) {  // two pixels
      const auto pixel = [&](int k) {
        const uint32_t rg = chunk.word[2 * k], b = chunk.word[2 * k + 1] & 65535;
        return static_cast<uint32_t>(klt_deep_pixel(luma16(weights, rg & 65535, rg >> 16, b)));
      };
      store_bytes(to + x / 4, pixel(0) | pixel(1) << 16, left / 4, true);
    } else {
      for (uint32_t& word : chunk.word)
        word = each_half(word, 0u, [](uint32_t v, uint32_t) { return uint32_t{klt_deep_pixel(v)}; });
      store_chunk(to + x, chunk, left, true);
    }
  }
}

// -------------------------------------------------------------------------------------------- pyramid

/// A block computes 8 × 8 pixels of the third (coarsest) level, and the pixels of the two finer levels that
/// it needs for them. The position of a region is twice that of the next coarser region, minus two pixels.
struct KltPyramidTuning {
  static constexpr int threads = 256, tile = 8;
  static constexpr int side2 = 2 * tile + 3, side1 = 2 * side2 + 3, side0 = 2 * side1 + 3;
  static constexpr int pitch0 = (side0 + 2 + 3) / 4 * 4;  ///< rows start two pixels before the region
};

__device__ int klt_reflect(int i, int n) {
  const int once = i < 0 ? -i : i >= n ? 2 * n - 2 - i : i;
  return min(max(once, 0), n - 1);
}

/// Type of the column sums, at most 16 times a pixel.
template <class Pixel>
using KltSum = std::conditional_t<sizeof(Pixel) == 1, uint16_t, uint32_t>;

template <class Pixel>
struct KltRegion {
  Pixel* pixels;
  int pitch, x, y, side;  ///< (x, y): position of the first pixel in its level
};

/// Computes `coarse` from `fine`. `extent`: size of the coarse level; `sums`: temporary memory. Border rule:
/// reflect101.
template <class Pixel>
__device__ void klt_shrink(const KltRegion<Pixel>& fine, const KltRegion<Pixel>& coarse, Extent extent,
                           KltSum<Pixel>* sums) {
  const int n = coarse.side, t = static_cast<int>(threadIdx.x);
  for (int i = t; i < fine.side * n; i += KltPyramidTuning::threads) {
    const int row = i / n, column = i - row * n;
    const int x = min(max(klt_reflect(coarse.x + column, extent.width), coarse.x), coarse.x + n - 1);
    const Pixel* p = fine.pixels + row * fine.pitch + 2 * x - fine.x;
    sums[i] = static_cast<KltSum<Pixel>>(p[-2] + p[2] + 4 * (p[-1] + p[1]) + 6 * p[0]);
  }
  __syncthreads();
  for (int i = t; i < n * n; i += KltPyramidTuning::threads) {
    const int row = i / n, column = i - row * n;
    const int y = min(max(klt_reflect(coarse.y + row, extent.height), coarse.y), coarse.y + n - 1);
    const KltSum<Pixel>* s = sums + (2 * y - fine.y) * n + column;
    coarse.pixels[row * coarse.pitch + column] =
        static_cast<Pixel>((s[-2 * n] + s[2 * n] + 4 * (s[-n] + s[n]) + 6 * s[0] + 128) >> 8);
  }
  __syncthreads();
}

/// Stores this block's part of a level.
template <class Pixel>
__device__ void klt_store_tile(const KltRegion<Pixel>& from, const ImageView<Pixel>& to, int x0, int y0,
                               int side) {
  for (int i = static_cast<int>(threadIdx.x); i < side * side; i += KltPyramidTuning::threads) {
    const int x = x0 + i % side, y = y0 + i / side;
    if (x < to.extent.width && y < to.extent.height)
      to.at(x, y) = from.pixels[(y - from.y) * from.pitch + x - from.x];
  }
}

template <class Pixel>
__global__ void __launch_bounds__(KltPyramidTuning::threads)
    klt_pyramid_kernel(KltShape shape, KltState state, int first) {
  using T = KltPyramidTuning;
  __shared__ __align__(16) Pixel pixels0[T::side0 * T::pitch0], pixels1[T::side1 * T::side1],
      pixels2[T::side2 * T::side2], pixels3[T::tile * T::tile];
  __shared__ KltSum<Pixel> sums[T::side0 * T::side1];
  uint8_t* half = state.after();
  const int x3 = static_cast<int>(blockIdx.x) * T::tile, y3 = static_cast<int>(blockIdx.y) * T::tile;
  const KltRegion<Pixel> region3{pixels3, T::tile, x3, y3, T::tile};
  const KltRegion<Pixel> region2{pixels2, T::side2, 2 * x3 - 2, 2 * y3 - 2, T::side2};
  const KltRegion<Pixel> region1{pixels1, T::side1, 2 * region2.x - 2, 2 * region2.y - 2, T::side1};
  const KltRegion<Pixel> region0{pixels0 + 2, T::pitch0, 2 * region1.x - 2, 2 * region1.y - 2, T::side0};

  const ImageView<Pixel> level0 = shape.view<Pixel>(half, first - 1);
  constexpr int per_word = 4 / sizeof(Pixel), bits = 8 * sizeof(Pixel);
  const int words = T::pitch0 / per_word, left = region0.x - 2;
  for (int i = static_cast<int>(threadIdx.x); i < T::side0 * words; i += T::threads) {
    const int row = i / words, x = left + i % words * per_word;
    const Pixel* from = level0.row(klt_reflect(region0.y + row, level0.extent.height));
    uint32_t word = 0;
    if (x >= 0 && x + per_word <= level0.extent.width) {
      word = *reinterpret_cast<const uint32_t*>(from + x);
    } else {
      for (int k = 0; k < per_word; ++k)
        word |= static_cast<uint32_t>(from[klt_reflect(x + k, level0.extent.width)]) << (bits * k);
    }
    reinterpret_cast<uint32_t*>(pixels0)[row * words + i % words] = word;
  }
  __syncthreads();
  const int made = min(shape.levels - first + 1, 3);
  klt_shrink(region0, region1, shape.level[first].extent, sums);
  klt_store_tile(region1, shape.view<Pixel>(half, first), 4 * x3, 4 * y3, 4 * T::tile);
  if (made < 2) return;
  klt_shrink(region1, region2, shape.level[first + 1].extent, sums);
  klt_store_tile(region2, shape.view<Pixel>(half, first + 1), 2 * x3, 2 * y3, 2 * T::tile);
  if (made < 3) return;
  klt_shrink(region2, region3, shape.level[first + 2].extent, sums);
  klt_store_tile(region3, shape.view<Pixel>(half, first + 2), x3, y3, T::tile);
}

}  // namespace

void Klt::launch_luma(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = luma_source(args);
  if (in.is_deep()) {
    klt_deep_luma_kernel<<<chunk_grid(in.format, KltDeepLumaTuning::rows), chunk_block(), 0, stream>>>(
        in.as<const uint8_t>(), static_cast<int>(in.row_bytes()), in.channels() == 4, aligned16(in), shape_,
        state_of(args), &block_of(args));
    LENSD_LAUNCHED();
    return;
  }
  const dim3 grid(blocks_for(in.width(), KltLumaTuning::threads * KltLumaTuning::pixels),
                  static_cast<unsigned>(in.height()));
  klt_luma_kernel<<<grid, KltLumaTuning::threads, 0, stream>>>(in.as<const uint8_t>(), in.channels() == 4,
                                                               rows_aligned(in, 4), rows_aligned(in, 16),
                                                               shape_, state_of(args), &block_of(args));
  LENSD_LAUNCHED();
}

void Klt::launch_shrink(const PassArgs& args, CudaStream stream) const {
  const Extent fine = shape_.level[args.step].extent;  // a block computes 4 × 4 tiles of this level
  const dim3 grid(blocks_for(fine.width, 4 * KltPyramidTuning::tile),
                  blocks_for(fine.height, 4 * KltPyramidTuning::tile));
  const auto kernel = shape_.deep ? &klt_pyramid_kernel<uint16_t> : &klt_pyramid_kernel<uint8_t>;
  kernel<<<grid, KltPyramidTuning::threads, 0, stream>>>(shape_, state_of(args), args.step);
  LENSD_LAUNCHED();
}

}  // namespace lensd
