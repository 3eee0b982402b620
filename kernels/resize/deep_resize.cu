// resize on CUDA for 16-bit images.
#include "core/device/cuda_fwd.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/common/samples.hpp"
#include "kernels/resize/resize.hpp"

namespace lensd {
namespace {

/// A thread computes one output sample. Neighbouring threads share their source samples in the L1 cache.
struct DeepResizeTuning {
  static constexpr int threads = 128;
};

__global__ void fill_deep_kernel(ResizeGeometry g, DeepResizeTaps* taps) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= g.x.m + g.y.m) return;
  taps[i] = i < g.x.m ? deep_resize_taps(g.x, g.method, i) : deep_resize_taps(g.y, g.method, i - g.x.m);
}

template <int kTaps>
__global__ void __launch_bounds__(DeepResizeTuning::threads)
    deep_taps_kernel(ResizeGeometry g, ImageView<const uint16_t> in, ImageView<uint16_t> out, int step,
                     const DeepResizeTaps* taps) {
  const int i = static_cast<int>(blockIdx.x * DeepResizeTuning::threads + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y), x = i / step, c = i % step;
  if (x >= g.x.m) return;
  const DeepResizeTaps across = taps[x], down = taps[g.x.m + y];
  if constexpr (kTaps == 1) {
    out.row(y)[i] = in.row(down.start)[across.start * step + c];
  } else {
    int columns[kTaps];
#pragma unroll
    for (int k = 0; k < kTaps; ++k) columns[k] = min(max(across.start + k, 0), g.x.n - 1) * step + c;
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kTaps; ++j) {
      const uint16_t* row = in.row(min(max(down.start + j, 0), g.y.n - 1));
      float line = across.weight[0] * static_cast<float>(row[columns[0]]);
#pragma unroll
      for (int k = 1; k < kTaps; ++k) line = line + across.weight[k] * static_cast<float>(row[columns[k]]);
      sum = j == 0 ? down.weight[0] * line : sum + down.weight[j] * line;
    }
    out.row(y)[i] = to_deep_sample(sum);
  }
}

/// Computes exact means. `columns` and `rows` describe the footprints; see AreaAxis.
__global__ void __launch_bounds__(DeepResizeTuning::threads)
    deep_area_kernel(AreaAxis columns, AreaAxis rows, ImageView<const uint16_t> in, ImageView<uint16_t> out,
                     int step) {
  const int i = static_cast<int>(blockIdx.x * DeepResizeTuning::threads + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y), x = i / step, c = i % step;
  if (x >= out.extent.width) return;
  const int left = columns.first(x), right = columns.last(x);
  uint64_t sum = 0;
  for (int sy = rows.first(y); sy <= rows.last(y); ++sy) {
    const uint16_t* row = in.row(sy);
    uint64_t across = 0;
    for (int sx = left; sx <= right; ++sx)
      across += static_cast<uint64_t>(columns.weight(x, sx)) * row[sx * step + c];
    sum += across * static_cast<uint64_t>(rows.weight(y, sy));
  }
  out.row(y)[i] = deep_area_mean(sum, static_cast<uint64_t>(columns.n) * static_cast<uint64_t>(rows.n));
}

}  // namespace

void Resize::launch_fill_deep(const PassArgs& args, CudaStream stream) const {
  constexpr int threads = DeepResizeTuning::threads;
  fill_deep_kernel<<<blocks_for(geometry_.x.m + geometry_.y.m, threads), threads, 0, stream>>>(
      geometry_, deep_taps(args));
  LENSD_LAUNCHED();
}

void Resize::launch_deep(const PassArgs& args, CudaStream stream) const {
  if (geometry_.path == ResizePath::half) return launch_halve(args, stream);
  if (AreaStrips::make(geometry_, true).count > 0) return launch_large_area(args, stream);
  constexpr int threads = DeepResizeTuning::threads;
  const ResizeGeometry& g = geometry_;
  const auto in = args.in[0].as<const uint16_t>();
  const auto out = args.out.as<uint16_t>();
  const int step = args.out.channels(), taps = g.taps();
  const dim3 grid(blocks_for(static_cast<int>(args.out.format.row_samples()), threads),
                  static_cast<unsigned>(args.out.height()));
  if (g.method == ResizeMethod::area) {
    deep_area_kernel<<<grid, threads, 0, stream>>>(AreaAxis::make(g.x), AreaAxis::make(g.y), in, out, step);
  } else {
    const auto kernel = taps == 1   ? deep_taps_kernel<1>
                        : taps == 2 ? deep_taps_kernel<2>
                        : taps == 4 ? deep_taps_kernel<4>
                                    : deep_taps_kernel<6>;
    kernel<<<grid, threads, 0, stream>>>(g, in, out, step, deep_taps(args));
  }
  LENSD_LAUNCHED();
}

}  // namespace lensd
