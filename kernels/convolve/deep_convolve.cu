// convolve on CUDA for 16-bit images: samples with border ── shared memory, one plane per colour channel ──
// sums in registers ── shared memory ─▶ global.
#include "kernels/common/deep/tile.cuh"
#include "kernels/common/samples.hpp"
#include "kernels/convolve/convolve.hpp"

namespace lensd {
namespace {

/// A block computes a tile of 64 columns. A thread computes 8 × 4 outputs of one channel, so each sample that
/// it loads is used for up to 32 sums, and each weight for 8.
template <int kChannels>
struct DeepConvolveShape {
  static constexpr int colours = kDeepColours<kChannels>;
  static constexpr int columns = 64, rows = kChannels == 1 ? 64 : 32;
  static constexpr int wide = 8, high = 4;  ///< outputs of a thread
  static constexpr int across = columns / wide, plane_threads = across * (rows / high);
  static constexpr int threads = colours * plane_threads;
  static constexpr int blocks = kChannels == 1 ? 6 : 4;  ///< blocks per multiprocessor
  static constexpr int borders = kConvolveMaxSide - 1, pitch = columns + borders + 6;
  static constexpr int plane = (rows + borders) * pitch;
  static constexpr int quads = (kConvolveMaxSide + 3) / 4;  ///< groups of four weights in a row

  static_assert(pitch % 4 == 0 && plane % 4 == 0);
};

template <class Shape>
struct DeepConvolveShared {
  float4 before;  // see DeepPlanes
  union {
    float tile[Shape::colours * Shape::plane];
    uint16_t values[Shape::colours][Shape::rows][Shape::columns];
  };
  float4 weights[kConvolveMaxSide][Shape::quads];
};

__device__ inline void load_four(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/// Adds the products of a row of samples to all rows of the thread's outputs. Kernel row y − j applies to
/// output row j. `cols` is odd.
template <class Shape, bool kExact>
__device__ void add_deep_row(const DeepConvolveShared<Shape>& s, const float* line, int y, int rows, int cols,
                             float (&sums)[Shape::high][Shape::wide]) {
  constexpr int kWide = Shape::wide;
  float window[kWide + 4];
  /// Adds the products of `kCount` columns of weights, from column x on. If products are exact, one fused
  /// operation has the same result as two.
  const auto add = [&]<int kCount>(int x) {
#pragma unroll
    for (int j = 0; j < Shape::high; ++j) {
      const int row = y - j;
      if (row < 0 || row >= rows) continue;
      float weights[4];
      load_four(weights, reinterpret_cast<const float*>(&s.weights[row][x / 4]));
#pragma unroll
      for (int k = 0; k < kCount; ++k)
#pragma unroll
        for (int i = 0; i < kWide; ++i)
          sums[j][i] = kExact ? __fmaf_rn(weights[k], window[i + k], sums[j][i])
                              : sums[j][i] + weights[k] * window[i + k];
    }
  };
  load_four(window, line), load_four(window + 4, line + 4);
#pragma unroll 1
  for (int first = 0;; first += 12)
#pragma unroll  // three shifts by 4 rotate the 12 samples, so the compiler renames registers without moves
    for (int part = 0; part < 3; ++part) {
      const int x = first + 4 * part;
      load_four(window + kWide, line + x + kWide);
      if (cols - x == 1) return add.template operator()<1>(x);
      if (cols - x == 3) return add.template operator()<3>(x);
      add.template operator()<4>(x);
#pragma unroll
      for (int i = 0; i < kWide; ++i) window[i] = window[i + 4];
    }
}

/// Computes the sums of a thread. `line`: the sample under the kernel's first row and column for the first
/// output.
template <class Shape, bool kExact>
__device__ void convolve_deep_sums(const DeepConvolveShared<Shape>& s, const float* line, int rows, int cols,
                                   float (&sums)[Shape::high][Shape::wide]) {
#pragma unroll 1
  for (int y = 0; y < rows + Shape::high - 1; ++y, line += Shape::pitch)
    add_deep_row<Shape, kExact>(s, line, y, rows, cols, sums);
}

template <int kChannels>
__global__ void __launch_bounds__(DeepConvolveShape<kChannels>::threads, DeepConvolveShape<kChannels>::blocks)
    deep_convolve_kernel(const __grid_constant__ DeepJob job, const ConvolveBlock* __restrict__ params) {
  using Shape = DeepConvolveShape<kChannels>;
  __shared__ DeepConvolveShared<Shape> s;
  const int t = static_cast<int>(threadIdx.x), c = t / Shape::plane_threads, p = t % Shape::plane_threads;
  const int x0 = static_cast<int>(blockIdx.x) * Shape::columns;
  const int y0 = static_cast<int>(blockIdx.y) * Shape::rows;
  const int rows = params->rows, cols = params->cols;
  const DeepTileArea area{x0 - cols / 2, y0 - rows / 2, Shape::columns + cols - 1, Shape::rows + rows - 1};
  load_deep_tile<kChannels, Shape::threads>(job, area, params->border, {s.tile, Shape::pitch, Shape::plane});
  constexpr int kRowWeights = 4 * Shape::quads;
  auto* const weights = reinterpret_cast<float*>(s.weights);
  for (int i = t; i < rows * kRowWeights; i += Shape::threads) weights[i] = 0.f;
  __syncthreads();
  for (int i = t; i < params->deep_count; i += Shape::threads) {
    const ConvolveBlock::DeepTap tap = params->deep[i];
    weights[tap.row * kRowWeights + tap.col] = tap.weight;
  }
  __syncthreads();

  const int x = p % Shape::across * Shape::wide, y = p / Shape::across * Shape::high;
  const float* const line = s.tile + c * Shape::plane + y * Shape::pitch + x;
  float sums[Shape::high][Shape::wide];
#pragma unroll
  for (auto& row : sums)
#pragma unroll
    for (float& sum : row) sum = params->deep_bias;
  if (params->deep_exact)
    convolve_deep_sums<Shape, true>(s, line, rows, cols, sums);
  else
    convolve_deep_sums<Shape, false>(s, line, rows, cols, sums);
  __syncthreads();  // all threads have read the tile, which s.values overwrites

#pragma unroll
  for (int j = 0; j < Shape::high; ++j) {
    const auto pair = [&sums, j, unit = params->deep_unit](int i) {
      return to_deep_sample(sums[j][i] * unit) | static_cast<uint32_t>(to_deep_sample(sums[j][i + 1] * unit))
                                                     << 16;
    };
    *reinterpret_cast<uint4*>(&s.values[c][y + j][x]) = make_uint4(pair(0), pair(2), pair(4), pair(6));
  }
  __syncthreads();
  store_deep_tile<kChannels, Shape::threads, Shape::columns, Shape::rows>(job, x0, y0, &s.values[0][0][0],
                                                                          KeepDeep{});
}

}  // namespace

void Convolve::prepare_deep_kernels() {
  prefer_shared_memory(&deep_convolve_kernel<1>);
  prefer_shared_memory(&deep_convolve_kernel<4>);
}

void Convolve::launch_deep(const PassArgs& args, CudaStream stream) const {
  const auto launch = [&]<int kChannels>() {
    using Shape = DeepConvolveShape<kChannels>;
    const ConstImageRef in = args.in[0];
    const dim3 grid(blocks_for(in.width(), Shape::columns), blocks_for(in.height(), Shape::rows));
    deep_convolve_kernel<kChannels><<<grid, Shape::threads, 0, stream>>>(
        DeepJob(in, args.out), static_cast<const ConvolveBlock*>(args.block));
    LENSD_LAUNCHED();
  };
  args.in[0].channels() == 1 ? launch.template operator()<1>() : launch.template operator()<4>();
}

}  // namespace lensd
