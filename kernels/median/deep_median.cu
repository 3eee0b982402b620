// median with radius 1 and 2 of 16-bit images on CUDA. Uses the same networks as median.cu.
#include "kernels/common/border/border.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/median/median.hpp"
#include "kernels/median/median_rows.cuh"

namespace lensd {
namespace {

/// A thread computes 4 registers of output in each of `rows` rows: 8 grey pixels, or two channels of 4 colour
/// pixels.
struct DeepMedianTuning {
  static constexpr int warps = 4;
  static constexpr int rows = 8;
};

struct DeepMedianJob {
  ImageView<const uint16_t> in;
  ImageView<uint16_t> out;
  const MedianBlock* block;
  bool aligned;  ///< rows start at multiples of 16 bytes (grey) or 4 bytes (colour)
};

/// Registers of a row: the results' columns and `kRadius` columns on both sides.
template <int kRadius>
using DeepRow = uint32_t[kOutputs + 2 * kRadius];

/// Grey pixels x to x + 7. Register i holds columns x − r + i and x − r + i + 4.
template <int kRadius>
struct DeepGray {
  static constexpr int pixels = 8, threads = 1;  ///< `threads` threads compute `pixels` pixels of a row

  __device__ static void load(const DeepMedianJob& job, Border border, int x, int, int y,
                              DeepRow<kRadius>& to) {
    const int width = job.in.extent.width, at = border_index(y, job.in.extent.height, border);
    uint32_t words[6] = {};  // columns x − 2 to x + 9
    if (at >= 0) {
      const uint16_t* row = job.in.row(at);
      if (job.aligned && x >= 2 && x + 10 <= width) {
        const uint4 middle = *reinterpret_cast<const uint4*>(row + x);
        words[0] = *reinterpret_cast<const uint32_t*>(row + x - 2);
        words[1] = middle.x, words[2] = middle.y, words[3] = middle.z, words[4] = middle.w;
        words[5] = *reinterpret_cast<const uint32_t*>(row + x + 8);
      } else {
#pragma unroll
        for (int i = 2 - kRadius; i < 10 + kRadius; ++i) {
          const int column = border_index(x - 2 + i, width, border);
          if (column >= 0) words[i / 2] |= static_cast<uint32_t>(row[column]) << (16 * (i % 2));
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kOutputs + 2 * kRadius; ++i) {
      const int column = i + 2 - kRadius;
      to[i] = __byte_perm(words[column / 2], words[column / 2 + 2], column % 2 == 0 ? 0x5410 : 0x7632);
    }
  }
  __device__ static void store(const DeepMedianJob& job, int x, int, int y, const uint32_t (&out)[kOutputs],
                               const DeepRow<kRadius>&) {
    uint16_t* to = job.out.row(y) + x;
    if (job.aligned && x + pixels <= job.out.extent.width) {
      *reinterpret_cast<uint4*>(to) =
          make_uint4(__byte_perm(out[0], out[1], 0x5410), __byte_perm(out[2], out[3], 0x5410),
                     __byte_perm(out[0], out[1], 0x7632), __byte_perm(out[2], out[3], 0x7632));
      return;
    }
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      if (x + i < job.out.extent.width) to[i] = static_cast<uint16_t>(out[i % 4] >> (i / 4 * 16));
  }
};

/// Pixels x to x + 3. Register i holds two channels of pixel x − r + i: red and green (`half` 0), or blue and
/// alpha.
template <int kRadius>
struct DeepColour {
  static constexpr int pixels = 4, threads = 2;

  __device__ static void load(const DeepMedianJob& job, Border border, int x, int half, int y,
                              DeepRow<kRadius>& to) {
    const int width = job.in.extent.width, at = border_index(y, job.in.extent.height, border);
    const auto* row = reinterpret_cast<const uint8_t*>(job.in.row(at < 0 ? 0 : at)) + 4 * half;
#pragma unroll
    for (int i = 0; i < kOutputs + 2 * kRadius; ++i) {
      const int column = border_index(x - kRadius + i, width, border);
      to[i] = at < 0 || column < 0 ? 0 : load_word(row + 8 * column, job.aligned);
    }
  }
  /// `centre`: the input row, for alpha.
  __device__ static void store(const DeepMedianJob& job, int x, int half, int y,
                               const uint32_t (&out)[kOutputs], const DeepRow<kRadius>& centre) {
    auto* to = reinterpret_cast<uint8_t*>(job.out.row(y)) + 8 * x + 4 * half;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i)
      if (x + i < job.out.extent.width)
        store_word(to + 8 * i, half == 0 ? out[i] : __byte_perm(out[i], centre[kRadius + i], 0x7610),
                   job.aligned);
  }
};

template <class Samples, int kRadius>
__global__ void __launch_bounds__(32 * DeepMedianTuning::warps) deep_median_kernel(DeepMedianJob job) {
  constexpr int kRows = 2 * kRadius + 2;
  const int thread = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  const int half = thread % Samples::threads, x = thread / Samples::threads * Samples::pixels;
  const int y0 =
      static_cast<int>(blockIdx.y * DeepMedianTuning::warps + threadIdx.y) * DeepMedianTuning::rows;
  const int width = job.in.extent.width, height = job.in.extent.height;
  if (x >= width || y0 >= height) return;
  const Border border = job.block->border;
  DeepRow<kRadius> rows[kRows];
#pragma unroll
  for (int i = 0; i < 2 * kRadius; ++i) Samples::load(job, border, x, half, y0 - kRadius + i, rows[i]);
#pragma unroll 1
  for (int y = y0; y < min(height, y0 + DeepMedianTuning::rows); y += 2) {
    Samples::load(job, border, x, half, y + kRadius, rows[2 * kRadius]);
    Samples::load(job, border, x, half, y + kRadius + 1, rows[2 * kRadius + 1]);
    uint32_t out[2][kOutputs];
    median_two_rows(rows, out);
    Samples::store(job, x, half, y, out[0], rows[kRadius]);
    if (y + 1 < height) Samples::store(job, x, half, y + 1, out[1], rows[kRadius + 1]);
#pragma unroll
    for (int i = 0; i < 2 * kRadius; ++i)
#pragma unroll
      for (int k = 0; k < kOutputs + 2 * kRadius; ++k) rows[i][k] = rows[i + 2][k];
  }
}

}  // namespace

void Median::launch_deep_networks(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const bool gray = in.channels() == 1;
  const unsigned bytes = gray ? 16 : 4;
  const DeepMedianJob job{in.as<const uint16_t>(), args.out.as<uint16_t>(),
                          static_cast<const MedianBlock*>(args.block),
                          rows_aligned(in, bytes) && rows_aligned(args.out, bytes)};
  const dim3 threads(32, DeepMedianTuning::warps);
  const dim3 grid(blocks_for(in.width(), 32 * (gray ? 8 : 2)),
                  blocks_for(in.height(), DeepMedianTuning::warps * DeepMedianTuning::rows));
  const auto kernel =
      gray ? (radius_ == 1 ? deep_median_kernel<DeepGray<1>, 1> : deep_median_kernel<DeepGray<2>, 2>)
           : (radius_ == 1 ? deep_median_kernel<DeepColour<1>, 1> : deep_median_kernel<DeepColour<2>, 2>);
  kernel<<<grid, threads, 0, stream>>>(job);
  LENSD_LAUNCHED();
}

}  // namespace lensd
