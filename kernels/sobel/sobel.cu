#include "kernels/common/border/border_call.cuh"
#include "kernels/common/tiles/gradient_pairs.cuh"
#include "kernels/common/tiles/planar_tile.cuh"
#include "kernels/sobel/sobel.hpp"
#include "kernels/sobel/sobel_columns.cuh"

namespace lensd {
namespace {

/// A thread computes 8 × 4 pixels. Uses no shared memory, because repeated reads of neighbouring pixels hit
/// the L1 cache.
struct SobelTuning {
  static constexpr int threads_x = 32, threads_y = 4;
  static constexpr int words = 2, columns = 4 * words, rows = 4;
};

using Columns = SobelColumns<SobelTuning::columns>;

/// Loads eight pixels of row y from column x on, with the border rule. Not inlined: the code is long and few
/// threads call it.
__device__ __noinline__ uint2 sobel_words(const TileSource& in, int x, int y, Border border) {
  uint32_t first[1], second[1];
  load_quad<1>(in, x, y, border, first), load_quad<1>(in, x + 4, y, border, second);
  return make_uint2(first[0], second[0]);
}

/// Returns the columns `at` of row y, with the border rule.
__device__ __forceinline__ ColumnPairs<SobelTuning::words> sobel_pixels(const TileSource& in,
                                                                        const Columns& at, int y,
                                                                        Border border) {
  constexpr uint32_t kBytes = 0x00ff00ffu;
  const int inside = y >= 0 && y < in.extent.height ? y : called_border_index(y, in.extent.height, border);
  if (inside < 0) return {};
  const uint8_t* row = in.row(inside);
  const uint2 two = at.wide ? *reinterpret_cast<const uint2*>(row + at.x) : sobel_words(in, at.x, y, border);
  const uint32_t left = at.left < 0 ? 0 : row[at.left], right = at.right < 0 ? 0 : row[at.right];
  return {{two.x & kBytes, two.y & kBytes}, {two.x >> 8 & kBytes, two.y >> 8 & kBytes}, left | right << 16};
}

/// Stores two words in row y from column x on, clipped to the image. `aligned`: rows start at multiples of 4
/// bytes. Not inlined, like sobel_words().
__device__ __noinline__ void sobel_store_clipped(const ImageView<uint8_t>& out, int x, int y, uint2 words,
                                                 bool aligned) {
  uint8_t* to = out.row(y) + x;
  store_bytes(to, words.x, out.extent.width - x, aligned);
  if (x + 4 < out.extent.width) store_bytes(to + 4, words.y, out.extent.width - x - 4, aligned);
}

/// In [2^23, 2^24) a float's mantissa is the integer.
inline constexpr float kWhole = 8388608.0f;

/// Returns the 16-bit value of a column: pairs[0] holds columns 0 and 2, pairs[1] columns 1 and 3.
__device__ __forceinline__ int half_of(const uint32_t (&pairs)[2], int column) {
  return static_cast<int>(column < 2 ? pairs[column] & 0xffff : pairs[column - 2] >> 16);
}
/// Returns kWhole + half_of(pairs, column) as a float.
__device__ __forceinline__ float whole_of(const uint32_t (&pairs)[2], int column) {
  return __uint_as_float(__byte_perm(pairs[column & 1], 0x4b00, column < 2 ? 0x5410 : 0x5432));
}

/// Computes sobel_magnitude(); the result is the lowest byte. The approximate root has a relative error of at
/// most 2^-23, which is at most 3e-5 for roots below 256. It rounds to the same value, since exact roots are
/// never that close to a half.
__device__ __forceinline__ uint32_t magnitude_of(const GradientPairs& g, int column) {
  const float dx = whole_of(g.x, column) - (kWhole + GradientPairs::x_bias),
              dy = whole_of(g.y, column) - (kWhole + GradientPairs::y_bias);
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(dx * dx + dy * dy));
  return __float_as_uint(fminf(root, 255.0f) + kWhole);
}

template <SobelOutput kOutput>
__device__ __forceinline__ uint32_t sobel_word(const GradientPairs& g) {
  uint32_t v[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (kOutput == SobelOutput::magnitude)
      v[i] = magnitude_of(g, i);
    else
      v[i] = sobel_value(kOutput, half_of(g.x, i) - GradientPairs::x_bias,
                         half_of(g.y, i) - GradientPairs::y_bias);
  }
  return __byte_perm(__byte_perm(v[0], v[1], 0x0040), __byte_perm(v[2], v[3], 0x0040), 0x5410);
}

/// Computes and stores the thread's pixels from (x, y) on, clipped to the image. rows[0] is input row y − 1.
template <SobelOutput kOutput>
__device__ __forceinline__ void sobel_patch(
    const ColumnPairs<SobelTuning::words> (&rows)[SobelTuning::rows + 2], const ImageView<uint8_t>& out,
    int x, int y, bool wide, bool aligned) {
#pragma unroll
  for (int r = 0; r < SobelTuning::rows; ++r) {
    if (y + r >= out.extent.height) return;
    const auto smooth = smoothed(rows[r], rows[r + 1], rows[r + 2]);
    const auto slope = derived(rows[r], rows[r + 2]);
    const uint2 words =
        make_uint2(sobel_word<kOutput>({smooth, slope, 0}), sobel_word<kOutput>({smooth, slope, 1}));
    if (wide)
      *reinterpret_cast<uint2*>(out.row(y + r) + x) = words;
    else
      sobel_store_clipped(out, x, y + r, words, aligned);
  }
}

/// Computes 8 × 4 pixels per thread. `wide`: rows of both images start at multiples of 8 bytes; `aligned`:
/// output rows start at multiples of 4 bytes.
__global__ void __launch_bounds__(SobelTuning::threads_x* SobelTuning::threads_y)
    sobel_kernel(TileSource in, ImageView<uint8_t> out, bool wide, bool aligned,
                 const SobelBlock* __restrict__ params) {
  const int x = static_cast<int>(blockIdx.x * SobelTuning::threads_x + threadIdx.x) * SobelTuning::columns,
            y = static_cast<int>(blockIdx.y * SobelTuning::threads_y + threadIdx.y) * SobelTuning::rows;
  const Extent extent = out.extent;
  if (x >= extent.width || y >= extent.height) return;
  const SobelBlock block = *params;
  const Columns columns(x, extent.width, block.border, wide);
  ColumnPairs<SobelTuning::words> rows[SobelTuning::rows + 2];
#pragma unroll
  for (int r = 0; r < SobelTuning::rows + 2; ++r)
    rows[r] = sobel_pixels(in, columns, y + r - 1, block.border);
  switch (block.output) {
    case SobelOutput::magnitude:
      return sobel_patch<SobelOutput::magnitude>(rows, out, x, y, columns.wide, aligned);
    case SobelOutput::x:
      return sobel_patch<SobelOutput::x>(rows, out, x, y, columns.wide, aligned);
    case SobelOutput::y:
      return sobel_patch<SobelOutput::y>(rows, out, x, y, columns.wide, aligned);
    case SobelOutput::direction:
      return sobel_patch<SobelOutput::direction>(rows, out, x, y, columns.wide, aligned);
  }
}

}  // namespace

void Sobel::launch_apply(const PassArgs& args, CudaStream stream) const {
  if (args.in[0].is_deep()) return launch_deep(args, stream);
  const ConstImageRef in = args.in[0];
  const dim3 threads(SobelTuning::threads_x, SobelTuning::threads_y);
  const dim3 grid(blocks_for(in.width(), SobelTuning::threads_x * SobelTuning::columns),
                  blocks_for(in.height(), SobelTuning::threads_y * SobelTuning::rows));
  sobel_kernel<<<grid, threads, 0, stream>>>(
      TileSource(in), args.out.as<uint8_t>(), rows_aligned(in, 8) && rows_aligned(args.out, 8),
      rows_aligned(args.out, 4), static_cast<const SobelBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
