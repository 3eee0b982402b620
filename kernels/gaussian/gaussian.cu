#include "kernels/common/border.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/gaussian/gaussian.hpp"

namespace lensd {
namespace {

/// A block blurs a tile of tile_w × tile_h pixels: input tile and horizontal sums in shared memory, four
/// columns by four rows of vertical sums in each thread's registers. `planes` is 1 (grey) or 3 (colour).
template <int kPlanes>
struct GaussianTuning {
  static constexpr int tile_w = kPlanes == 1 ? 128 : 64;
  static constexpr int tile_h = kPlanes == 1 ? 64 : 32;
  static constexpr int threads = kPlanes == 1 ? 256 : 128;
};

inline constexpr int kTableSize = 80;  ///< entries of each tap table

/// Sizes of the shared arrays for a reach (3, 7, 15, 31); rows are words of four bytes or of two sums.
template <int kPlanes>
struct TileShape {
  int halo, words, rows;  ///< columns beyond the tile, a multiple of four; words in a row; rows with the halo
  __host__ __device__ explicit TileShape(int reach)
      : halo(reach + 1),
        words((GaussianTuning<kPlanes>::tile_w + 2 * (reach + 1)) / 4),
        rows(GaussianTuning<kPlanes>::tile_h + 2 * reach) {}
  __host__ __device__ int pixel_words() const { return words * rows; }
  /// Four rows more: the vertical loop runs over them with taps of zero.
  __host__ __device__ int sum_words() const { return GaussianTuning<kPlanes>::tile_w / 2 * (rows + 4); }
  __host__ __device__ size_t bytes() const {
    return 4u * static_cast<size_t>(2 * kTableSize + kPlanes * (pixel_words() + sum_words()));
  }
};

/// acc + a.low · b.low + a.high · b.high, `a` of signed 16-bit halves, `b` two unsigned bytes.
__device__ uint32_t dot2_low(uint32_t a, uint32_t b, uint32_t acc) {
  asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(acc) : "r"(a), "r"(b));
  return acc;
}
__device__ uint32_t dot2_high(uint32_t a, uint32_t b, uint32_t acc) {
  asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(acc) : "r"(a), "r"(b));
  return acc;
}

/// Four pixels from column `x` on, as one word a plane.
template <int kPlanes>
__device__ void load_four(const uint8_t* row, int x, int width, Border border, bool aligned,
                          uint32_t* planes) {
  if (!row) {
    for (int p = 0; p < kPlanes; ++p) planes[p] = 0;
    return;
  }
  const bool inside = x >= 0 && x + 4 <= width;
  if constexpr (kPlanes == 1) {
    if (inside) {
      planes[0] = load_word(row + x, aligned);
      return;
    }
    planes[0] = 0;
    for (int i = 0; i < 4; ++i) {
      const int at = border_index(x + i, width, border);
      if (at >= 0) planes[0] |= static_cast<uint32_t>(row[at]) << (8 * i);
    }
  } else {
    uint32_t px[4];
    for (int i = 0; i < 4; ++i) {
      const int at = inside ? x + i : border_index(x + i, width, border);
      px[i] = at >= 0 ? load_word(row + 4 * at, aligned) : 0;
    }
    const uint32_t ab = __byte_perm(px[0], px[1], 0x5140), cd = __byte_perm(px[2], px[3], 0x5140);
    planes[0] = __byte_perm(ab, cd, 0x5410);
    planes[1] = __byte_perm(ab, cd, 0x7632);
    planes[2] = __byte_perm(__byte_perm(px[0], px[1], 0x0062), __byte_perm(px[2], px[3], 0x0062), 0x5410);
  }
}

/// Tap tables. pairs[q] = (tap(q − shift), tap(q − shift + 1)) in 16-bit halves, column[q] = tap(q − 3).
__device__ void make_tables(const GaussianBlock& block, int shift, uint32_t* pairs, int* column) {
  const auto tap = [&](int i) {
    return i >= 0 && i <= 2 * block.radius ? static_cast<int>(block.taps[i]) : 0;
  };
  for (int q = static_cast<int>(threadIdx.x); q < kTableSize; q += static_cast<int>(blockDim.x)) {
    pairs[q] = static_cast<uint32_t>(tap(q - shift) & 0xffff) | static_cast<uint32_t>(tap(q - shift + 1))
                                                                    << 16;
    column[q] = tap(q - 3);
  }
}

/// Four horizontal sums of a row, stored as 16-bit halves of two words. `row` are the tile's bytes as words,
/// `first` the word with the leftmost tap's byte, `centre` the word under the four outputs.
__device__ uint2 sum_across(const uint32_t* row, int first, int words, int centre, const uint32_t* pairs,
                            uint32_t whole) {
  uint32_t acc[4] = {};
  uint4 taps = *reinterpret_cast<const uint4*>(pairs);
  for (int w = 0; w < words; ++w) {
    const uint4 next = *reinterpret_cast<const uint4*>(pairs + 4 * w + 4);
    const uint32_t bytes = row[first + w];
    acc[0] = dot2_high(next.y, bytes, dot2_low(taps.w, bytes, acc[0]));
    acc[1] = dot2_high(next.x, bytes, dot2_low(taps.z, bytes, acc[1]));
    acc[2] = dot2_high(taps.w, bytes, dot2_low(taps.y, bytes, acc[2]));
    acc[3] = dot2_high(taps.z, bytes, dot2_low(taps.x, bytes, acc[3]));
    taps = next;
  }
  const uint32_t middle = row[centre];
  for (int i = 0; i < 4; ++i) acc[i] = gaussian_between(acc[i] + (whole * (middle >> (8 * i) & 0xff) << 16));
  return make_uint2(acc[0] | acc[1] << 16, acc[2] | acc[3] << 16);
}

/// Vertical sums for four columns by four rows; `sums` is the first row of the topmost window, `pitch` in
/// words.
__device__ void sum_down(const uint32_t* sums, int pitch, int radius, const int* column, uint32_t whole,
                         uint32_t (&out)[4]) {
  uint32_t acc[4][4] = {};
  int taps[8];
  *reinterpret_cast<int4*>(taps) = *reinterpret_cast<const int4*>(column);
  for (int j = 0; j < 2 * radius + 4; j += 4) {
    *reinterpret_cast<int4*>(taps + 4) = *reinterpret_cast<const int4*>(column + j + 4);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const uint2 p = *reinterpret_cast<const uint2*>(sums + (j + k) * pitch);
      const uint32_t px[4] = {p.x & 0xffff, p.x >> 16, p.y & 0xffff, p.y >> 16};
#pragma unroll
      for (int v = 0; v < 4; ++v)
#pragma unroll
        for (int i = 0; i < 4; ++i) acc[v][i] += static_cast<uint32_t>(taps[k - v + 3]) * px[i];
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) taps[k] = taps[k + 4];
  }
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    if (whole) {
      const uint2 p = *reinterpret_cast<const uint2*>(sums + (radius + v) * pitch);
      acc[v][0] += p.x << 16, acc[v][1] += p.x & 0xffff0000u;
      acc[v][2] += p.y << 16, acc[v][3] += p.y & 0xffff0000u;
    }
    out[v] = gaussian_final(acc[v][0]) | gaussian_final(acc[v][1]) << 8 | gaussian_final(acc[v][2]) << 16 |
             gaussian_final(acc[v][3]) << 24;
  }
}

/// Writes up to four pixels of row `y`; colour takes its alpha from the input.
template <int kPlanes>
__device__ void store_four(ImageView<const uint8_t> in, ImageView<uint8_t> out, int x, int y,
                           const uint32_t* planes, bool aligned) {
  const int count = min(4, in.extent.width - x);
  if constexpr (kPlanes == 1) {
    store_bytes(out.row(y) + x, planes[0], count, aligned);
  } else {
    for (int i = 0; i < count; ++i) {
      const uint32_t alpha = load_word(in.row(y) + 4 * (x + i), aligned) & 0xff000000u;
      const uint32_t colour = (planes[0] >> (8 * i) & 0xff) | (planes[1] >> (8 * i) & 0xff) << 8 |
                              (planes[2] >> (8 * i) & 0xff) << 16;
      store_word(out.row(y) + 4 * (x + i), colour | alpha, aligned);
    }
  }
}

template <int kPlanes>
__global__ void __launch_bounds__(GaussianTuning<kPlanes>::threads)
    gaussian_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, const GaussianBlock* params,
                    int reach, bool aligned) {
  using Tuning = GaussianTuning<kPlanes>;
  constexpr int kPitch = Tuning::tile_w / 2;  // of the sums, in words
  extern __shared__ uint4 shared[];
  const TileShape<kPlanes> shape(reach);
  auto* pairs = reinterpret_cast<uint32_t*>(shared);
  auto* column = reinterpret_cast<int*>(pairs + kTableSize);
  uint32_t* sums = pairs + 2 * kTableSize;
  uint32_t* pixels = sums + kPlanes * shape.sum_words();

  const GaussianBlock& block = *params;
  const int radius = min(block.radius, reach), threads = static_cast<int>(blockDim.x);
  const Border border = block.border;
  const auto whole = static_cast<uint32_t>(block.whole_centre);
  const int x0 = static_cast<int>(blockIdx.x) * Tuning::tile_w,
            y0 = static_cast<int>(blockIdx.y) * Tuning::tile_h;
  const int rows = Tuning::tile_h + 2 * radius;

  // Output byte i of a word has its leftmost tap `offset` + i bytes into word `lead` further on.
  const int offset = (shape.halo - radius) & 3, lead = (shape.halo - radius) >> 2;
  make_tables(block, offset + 3, pairs, column);
  for (int item = static_cast<int>(threadIdx.x); item < rows * shape.words; item += threads) {
    const int row = item / shape.words, word = item - row * shape.words;
    const int y = border_index(y0 - radius + row, in.extent.height, border);
    uint32_t planes[kPlanes];
    load_four<kPlanes>(y < 0 ? nullptr : in.row(y), x0 - shape.halo + 4 * word, in.extent.width, border,
                       aligned, planes);
    for (int p = 0; p < kPlanes; ++p) pixels[p * shape.pixel_words() + item] = planes[p];
  }
  __syncthreads();

  const int window = (offset + 2 * radius + 3) / 4 + 1;
  for (int item = static_cast<int>(threadIdx.x); item < rows * (Tuning::tile_w / 4); item += threads) {
    const int row = item / (Tuning::tile_w / 4), word = item % (Tuning::tile_w / 4);
    for (int p = 0; p < kPlanes; ++p) {
      const uint32_t* line = pixels + p * shape.pixel_words() + row * shape.words;
      const uint2 s = sum_across(line, word + lead, window, word + shape.halo / 4, pairs, whole);
      *reinterpret_cast<uint2*>(sums + p * shape.sum_words() + row * kPitch + 2 * word) = s;
    }
  }
  __syncthreads();

  for (int item = static_cast<int>(threadIdx.x); item < Tuning::tile_w / 4 * (Tuning::tile_h / 4);
       item += threads) {
    const int word = item % (Tuning::tile_w / 4), strip = item / (Tuning::tile_w / 4) * 4;
    const int x = x0 + 4 * word, y = y0 + strip;
    if (x >= in.extent.width || y >= in.extent.height) continue;
    uint32_t result[kPlanes][4];
#pragma unroll
    for (int p = 0; p < kPlanes; ++p)
      sum_down(sums + p * shape.sum_words() + strip * kPitch + 2 * word, kPitch, radius, column, whole,
               result[p]);
    for (int v = 0; v < 4 && y + v < in.extent.height; ++v) {
      uint32_t planes[kPlanes];
      for (int p = 0; p < kPlanes; ++p) planes[p] = result[p][v];
      store_four<kPlanes>(in, out, x, y + v, planes, aligned);
    }
  }
}

template <int kPlanes>
void launch_gaussian(const PassArgs& args, int reach, CudaStream stream) {
  using Tuning = GaussianTuning<kPlanes>;
  const ConstImageRef in = args.in[0];
  const dim3 grid(blocks_for(in.width(), Tuning::tile_w), blocks_for(in.height(), Tuning::tile_h));
  gaussian_kernel<kPlanes><<<grid, Tuning::threads, TileShape<kPlanes>(reach).bytes(), stream>>>(
      in.as<const uint8_t>(), args.out.as<uint8_t>(), static_cast<const GaussianBlock*>(args.block), reach,
      rows_aligned(in, 4) && rows_aligned(args.out, 4));
  LENSD_LAUNCHED();
}

}  // namespace

void prepare_gaussian_kernels() {
  const auto allow = [](const void* kernel, size_t bytes) {
    LENSD_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  };
  allow(reinterpret_cast<const void*>(&gaussian_kernel<1>), TileShape<1>(kGaussianMaxRadius).bytes());
  allow(reinterpret_cast<const void*>(&gaussian_kernel<3>), TileShape<3>(kGaussianMaxRadius).bytes());
}

void Gaussian::launch(const PassArgs& args, CudaStream stream) const {
  const int reach = gaussian_reach(static_cast<const GaussianBlock*>(args.host_block)->radius);
  if (args.in[0].channels() == 1)
    launch_gaussian<1>(args, reach, stream);
  else
    launch_gaussian<3>(args, reach, stream);
}

}  // namespace lensd
