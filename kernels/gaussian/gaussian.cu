#include "kernels/common/border.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/gaussian/gaussian.hpp"

namespace lensd {
namespace {

/// A block blurs a tile of tile_w × tile_h pixels. Its warps take two rows at a time each: pixels into a line
/// of the warp's own, horizontal sums into the block's. Then every thread takes four columns by four rows of
/// vertical sums. The block's memory fits the largest radius: with 57 KB at the most enough blocks run side
/// by side, and the launch depends on no parameter. `planes` is 1 (grey) or 3 (colour).
template <int kPlanes>
struct GaussianTuning {
  static constexpr int tile_w = kPlanes == 1 ? 128 : 64, tile_h = 64;
  static constexpr int warps = 8, blocks = kPlanes == 1 ? 5 : 4;  ///< of a multiprocessor
  static constexpr int words = tile_w / 4;                        ///< of four pixels
  static constexpr int line = words + 16;                         ///< words with the border on both sides
  static constexpr int lines = kPlanes == 1 ? 2 : 3;              ///< that a thread sums at a time
  /// Words of a warp's lines. Half a warp takes each colour row; 16 words more keep the halves' banks apart.
  static constexpr int warp_words = kPlanes == 1 ? lines * line : 2 * (lines * line + 16);
  static constexpr int pitch = tile_w / 2;  ///< of the sums, in words of two
  /// Rows of sums; two more than the window's are read, with taps of zero.
  static constexpr int plane_words = pitch * (tile_h + 2 * kGaussianMaxRadius + 2);
};

inline constexpr int kTableSize = 80;  ///< entries of each tap table

template <int kPlanes>
struct GaussianShared {
  uint32_t pairs[kTableSize];
  int column[kTableSize];
  uint32_t sums[kPlanes][GaussianTuning<kPlanes>::plane_words];
  uint32_t lines[GaussianTuning<kPlanes>::warps][GaussianTuning<kPlanes>::warp_words];
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

/// An image as the kernel reads and writes it. `aligned`: rows start at multiples of 4; `wide`: of 16.
struct GaussianJob {
  ImageView<const uint8_t> in;
  ImageView<uint8_t> out;
  const GaussianBlock* params;
  bool aligned, wide;
};

/// Four pixels from column `x`, a multiple of 4, as one word a plane. A null row gives zeros.
template <int kPlanes>
__device__ void load_four(const GaussianJob& job, const uint8_t* row, int x, Border border,
                          uint32_t (&planes)[kPlanes]) {
  for (int p = 0; p < kPlanes; ++p) planes[p] = 0;
  if (!row) return;
  const int width = job.in.extent.width;
  const bool inside = x >= 0 && x + 4 <= width;
  if constexpr (kPlanes == 1) {
    if (inside) {
      planes[0] = load_word(row + x, job.aligned);
      return;
    }
    for (int i = 0; i < 4; ++i) {
      const int at = border_index(x + i, width, border);
      if (at >= 0) planes[0] |= static_cast<uint32_t>(row[at]) << (8 * i);
    }
  } else {
    uint32_t px[4];
    if (inside && job.wide) {
      const uint4 v = *reinterpret_cast<const uint4*>(row + 4 * x);
      px[0] = v.x, px[1] = v.y, px[2] = v.z, px[3] = v.w;
    } else {
      for (int i = 0; i < 4; ++i) {
        const int at = inside ? x + i : border_index(x + i, width, border);
        px[i] = at >= 0 ? load_word(row + 4 * at, job.aligned) : 0;
      }
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

/// Four horizontal sums of each of N lines, stored as 16-bit halves of two words. `line` is the word with the
/// leftmost tap's byte, `centre` words before the one under the four outputs; the lines lie `stride` words
/// apart and share what is read of the taps.
template <int N>
__device__ void sum_across(const uint32_t* line, int stride, int words, int centre, const uint32_t* pairs,
                           uint32_t whole, uint2 (&sums)[N]) {
  uint32_t acc[N][4] = {};
  uint4 taps = *reinterpret_cast<const uint4*>(pairs);
#pragma unroll 2
  for (int w = 0; w < words; ++w) {
    const uint4 next = *reinterpret_cast<const uint4*>(pairs + 4 * w + 4);
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const uint32_t bytes = line[n * stride + w];
      acc[n][0] = dot2_high(next.y, bytes, dot2_low(taps.w, bytes, acc[n][0]));
      acc[n][1] = dot2_high(next.x, bytes, dot2_low(taps.z, bytes, acc[n][1]));
      acc[n][2] = dot2_high(taps.w, bytes, dot2_low(taps.y, bytes, acc[n][2]));
      acc[n][3] = dot2_high(taps.z, bytes, dot2_low(taps.x, bytes, acc[n][3]));
    }
    taps = next;
  }
#pragma unroll
  for (int n = 0; n < N; ++n) {
    const uint32_t middle = line[n * stride + centre];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      acc[n][i] = gaussian_between(acc[n][i] + (whole * (middle >> (8 * i) & 0xff) << 16));
    sums[n] = make_uint2(acc[n][0] | acc[n][1] << 16, acc[n][2] | acc[n][3] << 16);
  }
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
__device__ void store_four(const GaussianJob& job, int x, int y, const uint32_t (&planes)[kPlanes]) {
  const int count = min(4, job.in.extent.width - x);
  if constexpr (kPlanes == 1) {
    store_bytes(job.out.row(y) + x, planes[0], count, job.aligned);
  } else {
    const uint8_t* from = job.in.row(y) + 4 * x;
    uint8_t* to = job.out.row(y) + 4 * x;
    const auto pixel = [&](int i, uint32_t in) {
      return (planes[0] >> (8 * i) & 0xff) | (planes[1] >> (8 * i) & 0xff) << 8 |
             (planes[2] >> (8 * i) & 0xff) << 16 | (in & 0xff000000u);
    };
    if (count == 4 && job.wide) {
      const uint4 v = *reinterpret_cast<const uint4*>(from);
      *reinterpret_cast<uint4*>(to) = make_uint4(pixel(0, v.x), pixel(1, v.y), pixel(2, v.z), pixel(3, v.w));
      return;
    }
    for (int i = 0; i < count; ++i)
      store_word(to + 4 * i, pixel(i, load_word(from + 4 * i, job.aligned)), job.aligned);
  }
}

template <int kPlanes>
__global__ void __launch_bounds__(32 * GaussianTuning<kPlanes>::warps, GaussianTuning<kPlanes>::blocks)
    gaussian_kernel(GaussianJob job) {
  using Tuning = GaussianTuning<kPlanes>;
  constexpr int kLines = Tuning::lines, kWords = Tuning::words, kThreads = 32 * Tuning::warps;
  extern __shared__ uint4 memory[];
  auto& shared = *reinterpret_cast<GaussianShared<kPlanes>*>(memory);
  const GaussianBlock& block = *job.params;
  const int radius = block.radius, thread = static_cast<int>(threadIdx.x);
  const Border border = block.border;
  const auto whole = static_cast<uint32_t>(block.whole_centre);
  const int x0 = static_cast<int>(blockIdx.x) * Tuning::tile_w,
            y0 = static_cast<int>(blockIdx.y) * Tuning::tile_h;
  // Byte i of a word has its leftmost tap `offset` + i bytes behind the same word of the line.
  const int halo = (radius + 3) / 4 * 4, offset = halo - radius;
  const int window = (offset + 2 * radius + 3) / 4 + 1;
  make_tables(block, offset + 3, shared.pairs, shared.column);
  __syncthreads();

  // A warp's two rows: grey, one behind the other for the whole warp; colour, one for each half of it.
  const int warp = thread / 32, word = thread % kWords, half = kPlanes == 1 ? 0 : thread % 32 / kWords;
  constexpr int kRowsOfLane = kPlanes == 1 ? 2 : 1;
  uint32_t* const line = shared.lines[warp] + half * (kLines * Tuning::line + 16);
  const bool has_more = word < halo / 2;  // words of the line beyond the tile's own
  uint32_t now[kRowsOfLane][kPlanes], more[kRowsOfLane][kPlanes] = {};
  const auto load = [&](int row) {
#pragma unroll
    for (int v = 0; v < kRowsOfLane; ++v) {
      const int y = border_index(y0 - radius + row + half + v, job.in.extent.height, border);
      const uint8_t* from = y < 0 ? nullptr : job.in.row(y);
      load_four<kPlanes>(job, from, x0 - halo + 4 * word, border, now[v]);
      if (has_more) load_four<kPlanes>(job, from, x0 - halo + 4 * (kWords + word), border, more[v]);
    }
  };
  const int rows = Tuning::tile_h + 2 * radius;
  int row = 2 * warp;
  load(row);
  for (; row < rows; row += 2 * Tuning::warps) {
#pragma unroll
    for (int n = 0; n < kLines; ++n) {
      const int v = kPlanes == 1 ? n : 0, p = kPlanes == 1 ? 0 : n;
      line[n * Tuning::line + word] = now[v][p];
      if (has_more) line[n * Tuning::line + kWords + word] = more[v][p];
    }
    __syncwarp();
    if (row + 2 * Tuning::warps < rows) load(row + 2 * Tuning::warps);  // on its way during the sums
    uint2 sums[kLines];
    sum_across<kLines>(line + word, Tuning::line, window, halo / 4, shared.pairs, whole, sums);
#pragma unroll
    for (int n = 0; n < kLines; ++n) {
      const int v = kPlanes == 1 ? n : 0, p = kPlanes == 1 ? 0 : n;
      *reinterpret_cast<uint2*>(shared.sums[p] + (row + half + v) * Tuning::pitch + 2 * word) = sums[n];
    }
    __syncwarp();
  }
  __syncthreads();

  for (int item = thread; item < kWords * (Tuning::tile_h / 4); item += kThreads) {
    const int strip = item / kWords * 4, x = x0 + 4 * word, y = y0 + strip;
    if (x >= job.in.extent.width || y >= job.in.extent.height) continue;
    uint32_t result[kPlanes][4];
#pragma unroll
    for (int p = 0; p < kPlanes; ++p)
      sum_down(shared.sums[p] + strip * Tuning::pitch + 2 * word, Tuning::pitch, radius, shared.column, whole,
               result[p]);
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      if (y + v >= job.in.extent.height) break;
      uint32_t planes[kPlanes];
      for (int p = 0; p < kPlanes; ++p) planes[p] = result[p][v];
      store_four<kPlanes>(job, x, y + v, planes);
    }
  }
}

template <int kPlanes>
void launch_gaussian(const PassArgs& args, CudaStream stream) {
  using Tuning = GaussianTuning<kPlanes>;
  const ConstImageRef in = args.in[0];
  const GaussianJob job{
      in.as<const uint8_t>(), args.out.as<uint8_t>(), static_cast<const GaussianBlock*>(args.block),
      rows_aligned(in, 4) && rows_aligned(args.out, 4), rows_aligned(in, 16) && rows_aligned(args.out, 16)};
  const dim3 grid(blocks_for(in.width(), Tuning::tile_w), blocks_for(in.height(), Tuning::tile_h));
  gaussian_kernel<kPlanes><<<grid, 32 * Tuning::warps, sizeof(GaussianShared<kPlanes>), stream>>>(job);
  LENSD_LAUNCHED();
}

template <int kPlanes>
void prepare() {
  const auto set = [](cudaFuncAttribute attribute, int value) {
    LENSD_CUDA_CHECK(
        cudaFuncSetAttribute(reinterpret_cast<const void*>(&gaussian_kernel<kPlanes>), attribute, value));
  };
  set(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(sizeof(GaussianShared<kPlanes>)));
  set(cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
}

}  // namespace

void prepare_gaussian_kernels() {
  prepare<1>();
  prepare<3>();
}

void Gaussian::launch(const PassArgs& args, CudaStream stream) const {
  if (args.in[0].channels() == 1)
    launch_gaussian<1>(args, stream);
  else
    launch_gaussian<3>(args, stream);
}

}  // namespace lensd
