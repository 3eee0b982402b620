// gaussian and unsharp on CUDA for 16-bit images. A block walks down a strip, 32 rows per step, with all
// colour channels at once: samples with border ── stage ── horizontal sums ── across ── vertical sums ──
// stage, as samples ── finish ─▶ global. The last rows of `across` are kept for the next step.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "kernels/common/deep/tile.cuh"
#include "kernels/gaussian/gaussian_math.hpp"

namespace lensd {
namespace {

template <int kChannels>
struct DeepBlurShape {
  static constexpr int colours = kDeepColours<kChannels>;
  static constexpr int columns = kChannels == 1 ? 64 : 32, rows = 32;
  static constexpr int run = 8;  ///< adjacent outputs that a thread computes from the same samples
  static constexpr int plane_threads = kChannels == 1 ? 128 : 64, threads = colours * plane_threads;
  static constexpr int blocks = kChannels == 1 ? 6 : 4;  ///< blocks per multiprocessor

  // Rows of the stage include the radius on both sides, rounded up to a multiple of 4 for loads of four
  // samples. The pitch is an odd multiple of 4, so that a quarter warp that loads from two rows uses all
  // banks.
  static constexpr int pitch(int halo) { return columns + 2 * halo + 4; }
  /// Size in floats. Up to radius 8 it holds the 32 new rows of a step. Rows that do not fit are loaded in
  /// parts: above radius 8, and in a block's first step, which also needs 2 · radius border rows.
  static constexpr int stage = rows * pitch(8);
  /// Rows for all radii, and one that is read but not used.
  static constexpr int across_rows = rows + 2 * kGaussianMaxRadius + 1;

  static_assert(pitch(0) % 8 == 4 && columns % run == 0 && rows % run == 0);
};

struct DeepBlurLimits {
  static constexpr int steps = 6;      ///< maximum per block; the border rows are computed once per block
  static constexpr int blocks = 1360;  ///< a block gets more steps only if this many blocks remain
};

template <class Shape>
struct DeepBlurShared {
  union {
    float stage[Shape::colours][Shape::stage];
    uint16_t values[Shape::colours][Shape::rows][Shape::columns];
  };
  float across[Shape::colours][Shape::across_rows][Shape::columns];
  float4 weights[8];  ///< weights of distances 1 to 31
};

/// Computes deep_gaussian_sum() of `kRun` adjacent outputs. load4(to, i) loads the samples at distances i to
/// i + 3 from the first output; it may be called for positions up to `radius`, rounded up to a multiple of 4,
/// before the first and after the last output.
template <int kRun, class Load4>
__device__ void deep_blur_run(float centre, const float4* weights, int radius, const Load4& load4,
                              float (&sums)[kRun]) {
  float before[kRun + 4], after[kRun + 4];  // samples from −k − 4 and from k on
#pragma unroll
  for (int i = 0; i < kRun; i += 4) load4(after + i, i);
#pragma unroll
  for (int i = 0; i < kRun; ++i) before[i] = after[i], sums[i] = centre * after[i];
#pragma unroll 1
  for (int near = 0;; near += 12)
#pragma unroll  // three shifts by 4 rotate the 12 samples, so the compiler renames registers without moves
    for (int part = 0; part < 3; ++part) {
      const int k = near + 4 * part;
      if (k >= radius) return;
#pragma unroll
      for (int i = kRun - 1; i >= 0; --i) before[i + 4] = before[i];
      load4(before, -k - 4), load4(after + kRun, k + kRun);
      const float4 four = weights[k / 4];
      const float weight[] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int m = 1; m <= 4; ++m) {
        if (m > 1 && k + m > radius) return;
#pragma unroll
        for (int i = 0; i < kRun; ++i) sums[i] = sums[i] + weight[m - 1] * (before[i + 4 - m] + after[i + m]);
      }
#pragma unroll
      for (int i = 0; i < kRun; ++i) after[i] = after[i + 4];
    }
}

/// Computes `count` rows of horizontal sums from the stage. `p` is the thread's index in its plane.
template <class Shape>
__device__ void deep_blur_across(DeepBlurShared<Shape>& s, float centre, int radius, int halo, int first,
                                 int count, int c, int p) {
  constexpr int kRuns = Shape::columns / Shape::run;
  for (int i = p; i < count * kRuns; i += Shape::plane_threads) {
    const int row = i / kRuns, x = i % kRuns * Shape::run;
    const float* const from = s.stage[c] + row * Shape::pitch(halo) + halo + x;
    float sums[Shape::run];
    deep_blur_run(
        centre, s.weights, radius,
        [from](float* to, int at) {
          const float4 v = *reinterpret_cast<const float4*>(from + at);
          to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
        },
        sums);
    auto* const to = reinterpret_cast<float4*>(s.across[c][first + row] + x);
#pragma unroll
    for (int k = 0; k < Shape::run; k += 4)
      to[k / 4] = make_float4(sums[k], sums[k + 1], sums[k + 2], sums[k + 3]);
  }
}

/// Computes a step's blurred samples from the horizontal sums.
template <class Shape>
__device__ void deep_blur_down(DeepBlurShared<Shape>& s, float centre, int radius, int c, int p) {
  constexpr int kRuns = Shape::rows / Shape::run;
#pragma unroll 1
  for (int i = p; i < kRuns * Shape::columns; i += Shape::plane_threads) {
    const int x = i % Shape::columns, y = i / Shape::columns * Shape::run;
    const float* const from = s.across[c][0] + (y + radius) * Shape::columns + x;
    float sums[Shape::run];
    deep_blur_run(
        centre, s.weights, radius,
        [from](float* to, int at) {
#pragma unroll
          for (int k = 0; k < 4; ++k) to[k] = from[(at + k) * Shape::columns];
        },
        sums);
#pragma unroll
    for (int k = 0; k < Shape::run; ++k)
      s.values[c][y + k][x] = static_cast<uint16_t>(deep_gaussian_value(sums[k]));
  }
}

/// Moves the last 2 · radius rows of horizontal sums to the top, in parts whose source and target do not
/// overlap.
template <class Shape>
__device__ void deep_blur_keep(DeepBlurShared<Shape>& s, int radius, int c, int p) {
  constexpr int kQuads = Shape::columns / 4;
  auto* const quads = reinterpret_cast<float4*>(s.across[c]);
  for (int row = 0; row < 2 * radius; row += Shape::rows) {
    const int end = min(2 * radius, row + Shape::rows) * kQuads;
    for (int i = row * kQuads + p; i < end; i += Shape::plane_threads)
      quads[i] = quads[i + Shape::rows * kQuads];
    __syncthreads();
  }
}

/// Blurs a strip. `Finish(block)(in, blurred)` returns the output sample.
template <class Finish, int kChannels>
__global__ void __launch_bounds__(DeepBlurShape<kChannels>::threads, DeepBlurShape<kChannels>::blocks)
    deep_blur_kernel(const __grid_constant__ DeepJob job, int steps, const GaussianBlock* block) {
  using Shape = DeepBlurShape<kChannels>;
  extern __shared__ float4 deep_blur_memory[];
  auto& s = *reinterpret_cast<DeepBlurShared<Shape>*>(deep_blur_memory);
  const int t = static_cast<int>(threadIdx.x), c = t / Shape::plane_threads, p = t % Shape::plane_threads;
  const int x0 = static_cast<int>(blockIdx.x) * Shape::columns;
  const int radius = block->radius, halo = (radius + 3) / 4 * 4, pitch = Shape::pitch(halo);
  const int stage_rows = Shape::stage / pitch, total = Shape::rows + 2 * radius;
  const float centre = block->weights[0];
  if (t < 31) reinterpret_cast<float*>(s.weights)[t] = block->weights[1 + t];
  const Finish finish(block);
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int y0 = (static_cast<int>(blockIdx.y) * steps + step) * Shape::rows;
    if (y0 >= job.out.extent.height) break;
    int count;
#pragma unroll 1
    for (int done = step == 0 ? 0 : 2 * radius; done < total; done += count) {
      count = min(stage_rows, total - done);
      load_deep_tile<kChannels, Shape::threads>(
          job, {x0 - halo, y0 - radius + done, Shape::columns + 2 * halo, count}, block->border,
          {s.stage[0], pitch, Shape::stage});
      __syncthreads();
      deep_blur_across(s, centre, radius, halo, done, count, c, p);
      __syncthreads();
    }
    deep_blur_down(s, centre, radius, c, p);
    __syncthreads();
    store_deep_tile<kChannels, Shape::threads, Shape::columns, Shape::rows>(job, x0, y0, &s.values[0][0][0],
                                                                            finish);
    deep_blur_keep(s, radius, c, p);
  }
}

template <class Finish>
void prepare_deep_blur() {
  static_assert(sizeof(DeepBlurShared<DeepBlurShape<1>>) <= kMaxSharedBytes &&
                sizeof(DeepBlurShared<DeepBlurShape<4>>) <= kMaxSharedBytes);
  prefer_shared_memory(&deep_blur_kernel<Finish, 1>, sizeof(DeepBlurShared<DeepBlurShape<1>>));
  prefer_shared_memory(&deep_blur_kernel<Finish, 4>, sizeof(DeepBlurShared<DeepBlurShape<4>>));
}

template <class Finish>
void launch_deep_blur(const ConstImageRef& in, const ImageRef& out, const GaussianBlock* block,
                      CudaStream stream) {
  const auto launch = [&]<int kChannels>() {
    using Shape = DeepBlurShape<kChannels>;
    const unsigned strips = blocks_for(in.width(), Shape::columns);
    const unsigned tiles = strips * blocks_for(in.height(), Shape::rows);
    const int steps = std::clamp(static_cast<int>(tiles) / DeepBlurLimits::blocks, 1, DeepBlurLimits::steps);
    const dim3 grid(strips, blocks_for(in.height(), Shape::rows * steps));
    deep_blur_kernel<Finish, kChannels>
        <<<grid, Shape::threads, sizeof(DeepBlurShared<Shape>), stream>>>(DeepJob(in, out), steps, block);
    LENSD_LAUNCHED();
  };
  in.channels() == 1 ? launch.template operator()<1>() : launch.template operator()<4>();
}

}  // namespace
}  // namespace lensd
