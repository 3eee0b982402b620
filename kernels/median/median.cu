#include "kernels/common/border/border.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/median/median.hpp"
#include "kernels/median/median_rows.cuh"

namespace lensd {
namespace {

/// A thread computes 4 registers of output in each of `rows` rows: 8 Gray8 pixels, or 4 RGBA8 pixels in two
/// passes (red and blue, then green). A sample is the high byte of a 16-bit half. The low byte is arbitrary,
/// since it affects only the order of equal samples. Uses no shared memory, because a window's rows stay in
/// the L1 cache.
struct MedianTuning {
  static constexpr int warps = 4;
  static constexpr int rows = 8;
};

struct MedianJob {
  ImageView<const uint8_t> in;
  ImageView<uint8_t> out;
  const MedianBlock* block;
  bool wide;     ///< rows start at multiples of 8 bytes (Gray8) or 16 bytes (RGBA8)
  bool aligned;  ///< rows start at multiples of 4 bytes
};

/// Loads bytes x − 4 to x + 11 of a Gray8 row as four words; columns x − r to x + 7 + r are valid.
template <int kRadius>
__device__ void load_gray(const MedianJob& job, Border border, int x, int y, uint32_t (&words)[4]) {
  const int width = job.in.extent.width, at = border_index(y, job.in.extent.height, border);
  words[0] = words[1] = words[2] = words[3] = 0;
  if (at < 0) return;
  const uint8_t* row = job.in.row(at);
  if (job.wide && x >= 4 && x + 12 <= width) {
    const uint2 middle = *reinterpret_cast<const uint2*>(row + x);
    words[0] = load_word(row + x - 4, true);
    words[1] = middle.x, words[2] = middle.y;
    words[3] = load_word(row + x + 8, true);
    return;
  }
#pragma unroll
  for (int i = 4 - kRadius; i < 12 + kRadius; ++i) {
    const int column = border_index(x - 4 + i, width, border);
    if (column >= 0) words[i / 4] |= static_cast<uint32_t>(row[column]) << (8 * (i % 4));
  }
}

/// Unpacks the words of load_gray(): each register holds columns x + c and x + c + 4, for c = −r to 3 + r.
template <int kRadius>
__device__ void unpack_gray(const uint32_t (&words)[4], uint32_t (&columns)[kOutputs + 2 * kRadius]) {
#pragma unroll
  for (int i = 0; i < kOutputs + 2 * kRadius; ++i) {
    const int byte = 4 + i - kRadius;  // position in the four words
    columns[i] = __byte_perm(words[byte / 4], words[byte / 4 + 1], 0x4400u + 0x1111u * (byte % 4));
  }
}

template <int kRadius>
__global__ void __launch_bounds__(32 * MedianTuning::warps) median_gray_kernel(MedianJob job) {
  constexpr int kRows = 2 * kRadius + 2;
  const int x = static_cast<int>(blockIdx.x * 32 + threadIdx.x) * 2 * kOutputs;
  const int y0 = static_cast<int>(blockIdx.y * MedianTuning::warps + threadIdx.y) * MedianTuning::rows;
  const int width = job.in.extent.width, height = job.in.extent.height;
  if (x >= width || y0 >= height) return;
  const Border border = job.block->border;
  // Prefetches two rows during the computation of medians; 5×5 has no registers left for this.
  constexpr bool kAhead = kRadius == 1;
  uint32_t rows[kRows][kOutputs + 2 * kRadius], coming[kRows][4];
#pragma unroll
  for (int i = 0; i < (kAhead ? kRows : 2 * kRadius); ++i)
    load_gray<kRadius>(job, border, x, y0 - kRadius + i, coming[i]);
#pragma unroll
  for (int i = 0; i < 2 * kRadius; ++i) unpack_gray<kRadius>(coming[i], rows[i]);
  const int end = min(height, y0 + MedianTuning::rows);
#pragma unroll 2
  for (int y = y0; y < end; y += 2) {
    const auto load_two = [&](int from) {
      load_gray<kRadius>(job, border, x, from, coming[2 * kRadius]);
      load_gray<kRadius>(job, border, x, from + 1, coming[2 * kRadius + 1]);
    };
    if constexpr (!kAhead) load_two(y + kRadius);
    unpack_gray<kRadius>(coming[2 * kRadius], rows[2 * kRadius]);
    unpack_gray<kRadius>(coming[2 * kRadius + 1], rows[2 * kRadius + 1]);
    if (kAhead && y + 2 < end) load_two(y + kRadius + 2);
    uint32_t out[2][kOutputs];
    median_two_rows(rows, out);
    for (int v = 0; v < 2 && y + v < height; ++v) {
      const uint32_t p = __byte_perm(out[v][0], out[v][1], 0x7351),
                     q = __byte_perm(out[v][2], out[v][3], 0x7351);
      const uint2 words = make_uint2(__byte_perm(p, q, 0x5410), __byte_perm(p, q, 0x7632));
      uint8_t* dst = job.out.row(y + v) + x;
      const int count = width - x;
      if (job.wide && count >= 8) {
        *reinterpret_cast<uint2*>(dst) = words;
        continue;
      }
      store_bytes(dst, words.x, min(4, count), job.aligned);
      if (count > 4) store_bytes(dst + 4, words.y, min(4, count - 4), job.aligned);
    }
#pragma unroll
    for (int i = 0; i < 2 * kRadius; ++i)
#pragma unroll
      for (int k = 0; k < kOutputs + 2 * kRadius; ++k) rows[i][k] = rows[i + 2][k];
  }
}

/// Loads pixels x − r to x + 3 + r of an RGBA8 row.
template <int kRadius>
__device__ void load_rgba(const MedianJob& job, Border border, int x, int y,
                          uint32_t (&pixels)[kOutputs + 2 * kRadius]) {
  const int width = job.in.extent.width, at = border_index(y, job.in.extent.height, border);
  const uint8_t* row = job.in.row(at < 0 ? 0 : at);
  if (job.wide && at >= 0 && x >= kRadius && x + kOutputs + kRadius <= width) {
    const uint4 middle = *reinterpret_cast<const uint4*>(row + 4 * x);
    pixels[kRadius] = middle.x, pixels[kRadius + 1] = middle.y;
    pixels[kRadius + 2] = middle.z, pixels[kRadius + 3] = middle.w;
#pragma unroll
    for (int i = 0; i < kRadius; ++i) {
      pixels[i] = load_word(row + 4 * (x - kRadius + i), true);
      pixels[kRadius + kOutputs + i] = load_word(row + 4 * (x + kOutputs + i), true);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kOutputs + 2 * kRadius; ++i) {
    const int column = border_index(x - kRadius + i, width, border);
    pixels[i] = at < 0 || column < 0 ? 0 : load_word(row + 4 * column, job.aligned);
  }
}

template <int kRadius>
__global__ void __launch_bounds__(32 * MedianTuning::warps) median_rgba_kernel(MedianJob job) {
  constexpr int kRows = 2 * kRadius + 2, kColumns = kOutputs + 2 * kRadius;
  const int x = static_cast<int>(blockIdx.x * 32 + threadIdx.x) * kOutputs;
  const int y0 = static_cast<int>(blockIdx.y * MedianTuning::warps + threadIdx.y) * MedianTuning::rows;
  const int width = job.in.extent.width, height = job.in.extent.height;
  if (x >= width || y0 >= height) return;
  const Border border = job.block->border;
  uint32_t pixels[kRows][kColumns];
#pragma unroll
  for (int i = 0; i < 2 * kRadius; ++i) load_rgba<kRadius>(job, border, x, y0 - kRadius + i, pixels[i]);
#pragma unroll 1
  for (int y = y0; y < min(height, y0 + MedianTuning::rows); y += 2) {
    load_rgba<kRadius>(job, border, x, y + kRadius, pixels[2 * kRadius]);
    load_rgba<kRadius>(job, border, x, y + kRadius + 1, pixels[2 * kRadius + 1]);
    // High bytes of the 16-bit halves: red and blue in `moved`, green and alpha in `pixels`.
    uint32_t moved[kRows][kColumns], red_blue[2][kOutputs], green[2][kOutputs];
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int k = 0; k < kColumns; ++k) moved[i][k] = pixels[i][k] << 8;
    median_two_rows(moved, red_blue);
    median_two_rows(pixels, green);
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      if (y + v >= height) break;
      uint32_t out[kOutputs];
#pragma unroll
      for (int i = 0; i < kOutputs; ++i)
        out[i] = __byte_perm(__byte_perm(red_blue[v][i], green[v][i], 0x0351),
                             pixels[kRadius + v][kRadius + i], 0x7210);
      uint8_t* dst = job.out.row(y + v) + 4 * x;
      if (job.wide && x + kOutputs <= width) {
        *reinterpret_cast<uint4*>(dst) = make_uint4(out[0], out[1], out[2], out[3]);
        continue;
      }
#pragma unroll
      for (int i = 0; i < kOutputs; ++i)
        if (x + i < width) store_word(dst + 4 * i, out[i], job.aligned);
    }
#pragma unroll
    for (int i = 0; i < 2 * kRadius; ++i)
#pragma unroll
      for (int k = 0; k < kColumns; ++k) pixels[i][k] = pixels[i + 2][k];
  }
}

}  // namespace

void Median::launch_networks(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const bool gray = in.channels() == 1;
  const unsigned word = gray ? 8 : 16;
  const MedianJob job{in.as<const uint8_t>(), args.out.as<uint8_t>(),
                      static_cast<const MedianBlock*>(args.block),
                      rows_aligned(in, word) && rows_aligned(args.out, word),
                      rows_aligned(in, 4) && rows_aligned(args.out, 4)};
  const dim3 threads(32, MedianTuning::warps);
  const dim3 grid(blocks_for(in.width(), 32 * kOutputs * (gray ? 2 : 1)),
                  blocks_for(in.height(), MedianTuning::warps * MedianTuning::rows));
  const auto kernel = gray ? (radius_ == 1 ? median_gray_kernel<1> : median_gray_kernel<2>)
                           : (radius_ == 1 ? median_rgba_kernel<1> : median_rgba_kernel<2>);
  kernel<<<grid, threads, 0, stream>>>(job);
  LENSD_LAUNCHED();
}

}  // namespace lensd
