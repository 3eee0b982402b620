#include "kernels/common/bytes16.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/resize/resize.hpp"

namespace lensd {
namespace {

/// Small footprints: a thread each. Large ones: a block each, so that a warp reads along rows and a strong
/// reduction still has enough threads.
struct AreaTuning {
  static constexpr int threads_x = 32, threads_y = 8;
  static constexpr int large_footprint = 512;  // samples
  static constexpr int large_threads = 256;
};

struct AreaArgs {
  AreaAxis x, y;
  uint64_t total;
  int width, height, channels;
  bool aligned;
  ImageView<const uint8_t> in;
  ImageView<uint8_t> out;
};

__device__ uint8_t mean_of(uint64_t sum, uint64_t total) {
  if (total < (uint64_t{1} << 24)) {  // then the sum and half a total fit 32 bits
    const uint32_t weights = static_cast<uint32_t>(total);
    return static_cast<uint8_t>((static_cast<uint32_t>(sum) + weights / 2) / weights);
  }
  return area_mean(sum, total);
}

template <int kChannels>
__device__ void load_pixel(const uint8_t* row, int x, bool aligned, uint32_t* v) {
  if (kChannels == 1) {
    v[0] = row[x];
    return;
  }
  const uint32_t pixel = load_word(row + 4 * x, aligned);
  for (int c = 0; c < kChannels; ++c) v[c] = (pixel >> (8 * c)) & 255;
}

template <int kChannels>
__global__ void area_kernel(AreaArgs a) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= a.width || y >= a.height) return;
  const int left = a.x.first(x), right = a.x.last(x), top = a.y.first(y), bottom = a.y.last(y);
  uint64_t sum[kChannels] = {};
  for (int sy = top; sy <= bottom; ++sy) {
    const uint8_t* row = a.in.row(sy);
    uint32_t across[kChannels] = {}, v[kChannels];
    for (int sx = left; sx <= right; ++sx) {
      const uint32_t weight = static_cast<uint32_t>(a.x.weight(x, sx));
      load_pixel<kChannels>(row, sx, a.aligned, v);
      for (int c = 0; c < kChannels; ++c) across[c] += weight * v[c];
    }
    const uint64_t down = static_cast<uint64_t>(a.y.weight(y, sy));
    for (int c = 0; c < kChannels; ++c) sum[c] += down * across[c];
  }
  for (int c = 0; c < kChannels; ++c) a.out.row(y)[x * kChannels + c] = mean_of(sum[c], a.total);
}

template <int kChannels>
__global__ void area_large_kernel(AreaArgs a) {
  const int x = static_cast<int>(blockIdx.x), y = static_cast<int>(blockIdx.y);
  const int left = a.x.first(x), right = a.x.last(x), top = a.y.first(y), bottom = a.y.last(y);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  constexpr int warps = AreaTuning::large_threads / 32;
  unsigned long long sum[kChannels] = {};
  for (int sy = top + warp; sy <= bottom; sy += warps) {
    const uint8_t* row = a.in.row(sy);
    uint32_t across[kChannels] = {}, v[kChannels];
    for (int sx = left + lane; sx <= right; sx += 32) {
      const uint32_t weight = static_cast<uint32_t>(a.x.weight(x, sx));
      load_pixel<kChannels>(row, sx, a.aligned, v);
      for (int c = 0; c < kChannels; ++c) across[c] += weight * v[c];
    }
    const uint64_t down = static_cast<uint64_t>(a.y.weight(y, sy));
    for (int c = 0; c < kChannels; ++c) sum[c] += down * across[c];
  }
  __shared__ unsigned long long partial[warps][kChannels];
  for (int c = 0; c < kChannels; ++c) {
    for (int step = 16; step > 0; step /= 2) sum[c] += __shfl_down_sync(0xffffffffu, sum[c], step);
    if (lane == 0) partial[warp][c] = sum[c];
  }
  __syncthreads();
  if (threadIdx.x >= kChannels) return;
  uint64_t all = 0;
  for (int w = 0; w < warps; ++w) all += partial[w][threadIdx.x];
  a.out.row(y)[x * kChannels + static_cast<int>(threadIdx.x)] = mean_of(all, a.total);
}

void launch_area(const AreaArgs& args, CudaStream stream) {
  const double footprint = static_cast<double>(args.total) / (static_cast<double>(args.x.m) * args.y.m);
  if (footprint >= AreaTuning::large_footprint) {
    const dim3 grid(static_cast<unsigned>(args.width), static_cast<unsigned>(args.height));
    if (args.channels == 4)
      area_large_kernel<4><<<grid, AreaTuning::large_threads, 0, stream>>>(args);
    else
      area_large_kernel<1><<<grid, AreaTuning::large_threads, 0, stream>>>(args);
    return;
  }
  const dim3 threads(AreaTuning::threads_x, AreaTuning::threads_y);
  const dim3 grid(blocks_for(args.width, AreaTuning::threads_x),
                  blocks_for(args.height, AreaTuning::threads_y));
  if (args.channels == 4)
    area_kernel<4><<<grid, threads, 0, stream>>>(args);
  else
    area_kernel<1><<<grid, threads, 0, stream>>>(args);
}

/// 16 bytes of output a thread, from 32 bytes of two rows. Words are added as pairs of 16-bit sums.
struct HalfTuning {
  static constexpr int threads = 128;
};

__device__ uint32_t evens(uint32_t v) {
  return v & 0x00ff00ffu;
}
__device__ uint32_t odds(uint32_t v) {
  return (v >> 8) & 0x00ff00ffu;
}
/// (sum + 2) / 4 in both halves.
__device__ uint32_t quarter(uint32_t sums) {
  return ((sums + 0x00020002u) >> 2) & 0x00ff00ffu;
}

/// Means of four RGBA pixels a b over c d.
__device__ uint32_t half_pixel(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return quarter(evens(a) + evens(b) + evens(c) + evens(d)) | quarter(odds(a) + odds(b) + odds(c) + odds(d))
                                                                  << 8;
}

/// Four gray means of 8 samples of two rows each.
__device__ uint32_t half_gray(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  const uint32_t low = quarter(evens(a) + odds(a) + evens(c) + odds(c));
  const uint32_t high = quarter(evens(b) + odds(b) + evens(d) + odds(d));
  return __byte_perm(low, high, 0x6420);
}

__global__ void half_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, int out_bytes, bool rgba) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 16;
  if (x >= out_bytes) return;
  const int y = static_cast<int>(blockIdx.y);
  const uint8_t *upper = in.row(2 * y), *lower = in.row(2 * y + 1);
  const uint8_t *upper_end = upper + 2 * out_bytes, *lower_end = lower + 2 * out_bytes;
  const uint4 a = load16(upper + 2 * x, upper, upper_end), b = load16(upper + 2 * x + 16, upper, upper_end);
  const uint4 c = load16(lower + 2 * x, lower, lower_end), d = load16(lower + 2 * x + 16, lower, lower_end);
  const auto mean = rgba ? uint4{half_pixel(a.x, a.y, c.x, c.y), half_pixel(a.z, a.w, c.z, c.w),
                                 half_pixel(b.x, b.y, d.x, d.y), half_pixel(b.z, b.w, d.z, d.w)}
                         : uint4{half_gray(a.x, a.y, c.x, c.y), half_gray(a.z, a.w, c.z, c.w),
                                 half_gray(b.x, b.y, d.x, d.y), half_gray(b.z, b.w, d.z, d.w)};
  store16(out.row(y) + x, mean, min(16, out_bytes - x));
}

}  // namespace

void launch_means(const ResizeGeometry& g, const ConstImageRef& in, const ImageRef& out, CudaStream stream) {
  if (g.path == ResizePath::half) {
    const int out_bytes = static_cast<int>(out.row_bytes());
    const dim3 grid(blocks_for(out_bytes, HalfTuning::threads * 16), static_cast<unsigned>(out.height()));
    half_kernel<<<grid, HalfTuning::threads, 0, stream>>>(in.as<const uint8_t>(), out.as<uint8_t>(),
                                                          out_bytes, in.channels() == 4);
  } else {
    const AreaAxis x = AreaAxis::make(g.x), y = AreaAxis::make(g.y);
    launch_area({x, y, static_cast<uint64_t>(x.n) * static_cast<uint64_t>(y.n), g.x.m, g.y.m, in.channels(),
                 rows_aligned(in, 4), in.as<const uint8_t>(), out.as<uint8_t>()},
                stream);
  }
  LENSD_LAUNCHED();
}

}  // namespace lensd
