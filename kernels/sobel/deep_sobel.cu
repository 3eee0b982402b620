// sobel on CUDA for 16-bit images.
#include "kernels/common/border/border_call.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/sobel/sobel.hpp"
#include "kernels/sobel/sobel_columns.cuh"

namespace lensd {
namespace {

/// A thread computes 8 × 4 pixels. Uses no shared memory, because repeated reads of neighbouring pixels hit
/// the L1 cache. Measured: see docs/benchmarks.md.
struct DeepSobelTuning {
  static constexpr int threads_x = 32, threads_y = 4;
  static constexpr int columns = 8, rows = 4;
};

/// Columns x − 1 to x + 8 of a row, by the border rule. A word of `inner` holds two columns.
struct DeepSobelRow {
  uint4 inner;
  uint32_t left, right;

  /// Returns column x − 1 + i.
  __device__ __forceinline__ int at(int i) const {
    if (i == 0) return static_cast<int>(left);
    if (i == DeepSobelTuning::columns + 1) return static_cast<int>(right);
    const uint32_t words[4] = {inner.x, inner.y, inner.z, inner.w}, word = words[(i - 1) / 2];
    return static_cast<int>(i % 2 == 1 ? word & 65535 : word >> 16);
  }
};

using DeepColumns = SobelColumns<DeepSobelTuning::columns>;

/// Loads eight pixels of a row from column x on, with the border rule. Not inlined: the code is long and few
/// threads call it.
__device__ __noinline__ uint4 deep_sobel_bordered(const uint16_t* row, int x, int width, Border border) {
  uint32_t words[4] = {};
#pragma unroll
  for (int i = 0; i < DeepSobelTuning::columns; ++i) {
    const int column = border_index(x + i, width, border);
    if (column >= 0) words[i / 2] |= static_cast<uint32_t>(row[column]) << (i % 2 * 16);
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ __forceinline__ DeepSobelRow deep_sobel_row(const ImageView<const uint16_t>& in,
                                                       const DeepColumns& at, int y, Border border) {
  const int inside = y >= 0 && y < in.extent.height ? y : called_border_index(y, in.extent.height, border);
  if (inside < 0) return {};
  const uint16_t* row = in.row(inside);
  return {at.wide ? *reinterpret_cast<const uint4*>(row + at.x)
                  : deep_sobel_bordered(row, at.x, in.extent.width, border),
          at.left < 0 ? 0u : row[at.left], at.right < 0 ? 0u : row[at.right]};
}

/// Returns the correctly rounded square root of `v`, which must be in [1, 2^40]. Performs the operations of
/// sqrtf() without its branch for numbers near the limits of the exponent.
__device__ __forceinline__ float square_root(float v) {
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(v));
  const float root = v * inverse, half = 0.5f * inverse;
  return fmaf(fmaf(-root, root, v), half, root);
}

/// Computes deep_sobel_value(). The magnitude uses square_root() instead of sqrtf().
template <SobelOutput kOutput>
__device__ __forceinline__ uint32_t deep_value(int dx, int dy) {
  if constexpr (kOutput != SobelOutput::magnitude) return deep_sobel_value(kOutput, dx, dy);
  const float fx = static_cast<float>(dx), fy = static_cast<float>(dy);
  const float square = fx * fx + fy * fy;  // 0 or at least 1
  const float root = fminf(square_root(fmaxf(square, 1.0f)) + 0.5f, 65535.0f);
  return square < 1.0f ? 0 : static_cast<uint32_t>(static_cast<int>(root));
}

/// Computes and stores the thread's pixels from (x, y) on, clipped to the image. rows[0] is input row y − 1.
template <SobelOutput kOutput>
__device__ __forceinline__ void deep_sobel_patch(const DeepSobelRow (&rows)[DeepSobelTuning::rows + 2],
                                                 const ImageView<uint16_t>& out, int x, int y, bool wide) {
  constexpr int kColumns = DeepSobelTuning::columns;
#pragma unroll
  for (int r = 0; r < DeepSobelTuning::rows; ++r) {
    if (y + r >= out.extent.height) return;
    int smooth[kColumns + 2], slope[kColumns + 2];
#pragma unroll
    for (int i = 0; i < kColumns + 2; ++i) {
      const int above = rows[r].at(i), at = rows[r + 1].at(i), below = rows[r + 2].at(i);
      smooth[i] = above + 2 * at + below, slope[i] = below - above;
    }
    uint32_t words[kColumns / 2] = {};
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const uint32_t value =
          deep_value<kOutput>(smooth[i + 2] - smooth[i], slope[i] + 2 * slope[i + 1] + slope[i + 2]);
      words[i / 2] |= value << (i % 2 * 16);
    }
    uint16_t* to = out.row(y + r) + x;
    if (wide) {
      *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
      continue;
    }
#pragma unroll
    for (int i = 0; i < kColumns; ++i)
      if (x + i < out.extent.width) to[i] = static_cast<uint16_t>(words[i / 2] >> (i % 2 * 16));
  }
}

/// Computes 8 × 4 pixels per thread. `aligned`: rows of both images start at multiples of 16 bytes.
__global__ void __launch_bounds__(DeepSobelTuning::threads_x* DeepSobelTuning::threads_y)
    deep_sobel_kernel(ImageView<const uint16_t> in, ImageView<uint16_t> out, bool aligned,
                      const SobelBlock* __restrict__ params) {
  const int x = static_cast<int>(blockIdx.x * DeepSobelTuning::threads_x + threadIdx.x) *
                DeepSobelTuning::columns,
            y = static_cast<int>(blockIdx.y * DeepSobelTuning::threads_y + threadIdx.y) *
                DeepSobelTuning::rows;
  const Extent extent = in.extent;
  if (x >= extent.width || y >= extent.height) return;
  const SobelBlock block = *params;
  const DeepColumns columns(x, extent.width, block.border, aligned);
  DeepSobelRow rows[DeepSobelTuning::rows + 2];
#pragma unroll
  for (int r = 0; r < DeepSobelTuning::rows + 2; ++r)
    rows[r] = deep_sobel_row(in, columns, y + r - 1, block.border);
  switch (block.output) {
    case SobelOutput::magnitude:
      return deep_sobel_patch<SobelOutput::magnitude>(rows, out, x, y, columns.wide);
    case SobelOutput::x:
      return deep_sobel_patch<SobelOutput::x>(rows, out, x, y, columns.wide);
    case SobelOutput::y:
      return deep_sobel_patch<SobelOutput::y>(rows, out, x, y, columns.wide);
    case SobelOutput::direction:
      return deep_sobel_patch<SobelOutput::direction>(rows, out, x, y, columns.wide);
  }
}

}  // namespace

void Sobel::launch_deep(const PassArgs& args, CudaStream stream) const {
  using Tuning = DeepSobelTuning;
  const ConstImageRef in = args.in[0];
  const dim3 threads(Tuning::threads_x, Tuning::threads_y);
  const dim3 grid(blocks_for(in.width(), Tuning::threads_x * Tuning::columns),
                  blocks_for(in.height(), Tuning::threads_y * Tuning::rows));
  deep_sobel_kernel<<<grid, threads, 0, stream>>>(in.as<const uint16_t>(), args.out.as<uint16_t>(),
                                                  rows_aligned(in, 16) && rows_aligned(args.out, 16),
                                                  static_cast<const SobelBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
