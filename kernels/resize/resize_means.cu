#include "kernels/common/bytes16.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/resize/resize.hpp"

namespace lensd {
namespace {

/// One thread per small footprint. One block per large footprint, so that small outputs also use enough
/// threads; the block's warps read along rows.
struct AreaTuning {
  static constexpr int threads_x = 32, threads_y = 8;
  static constexpr int large_footprint = 512;  // minimum size of a large footprint, in pixels
  static constexpr int large_threads = 256;
};

struct AreaArgs {
  AreaAxis x, y;
  uint64_t total;
  int width, height;
  bool aligned;
  ImageView<const uint8_t> in;
  ImageView<uint8_t> out;
};

__device__ uint8_t mean_of(uint64_t sum, uint64_t total) {
  if (total < (uint64_t{1} << 24)) {  // sum ≤ 255 · total, so sum + total / 2 fits in 32 bits
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

/// Adds samples of the footprint of output (x, y) to `sum`: every `columns`-th sample from `column` on, in
/// every `rows`-th row from `row` on.
template <int kChannels>
__device__ void add_footprint(const AreaArgs& a, int x, int y, int column, int columns, int row, int rows,
                              unsigned long long (&sum)[kChannels]) {
  const int left = a.x.first(x), right = a.x.last(x), top = a.y.first(y), bottom = a.y.last(y);
  for (int sy = top + row; sy <= bottom; sy += rows) {
    const uint8_t* line = a.in.row(sy);
    uint32_t across[kChannels] = {}, v[kChannels];
    for (int sx = left + column; sx <= right; sx += columns) {
      const uint32_t weight = static_cast<uint32_t>(a.x.weight(x, sx));
      load_pixel<kChannels>(line, sx, a.aligned, v);
      for (int c = 0; c < kChannels; ++c) across[c] += weight * v[c];
    }
    const uint64_t down = static_cast<uint64_t>(a.y.weight(y, sy));
    for (int c = 0; c < kChannels; ++c) sum[c] += down * across[c];
  }
}

template <int kChannels>
__global__ void area_kernel(AreaArgs a) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= a.width || y >= a.height) return;
  unsigned long long sum[kChannels] = {};
  add_footprint(a, x, y, 0, 1, 0, 1, sum);
  for (int c = 0; c < kChannels; ++c) a.out.row(y)[x * kChannels + c] = mean_of(sum[c], a.total);
}

template <int kChannels>
__global__ void area_large_kernel(AreaArgs a) {
  const int x = static_cast<int>(blockIdx.x), y = static_cast<int>(blockIdx.y);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  constexpr int warps = AreaTuning::large_threads / 32;
  unsigned long long sum[kChannels] = {};
  add_footprint(a, x, y, lane, 32, warp, warps, sum);
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

/// A thread computes 16 output bytes from 32 bytes of each of two rows. Samples of 8 bits are summed in
/// pairs, in the 16-bit halves of a word.
struct HalfTuning {
  static constexpr int threads = 128;
};

__device__ uint32_t evens(uint32_t v) {
  return v & 0x00ff00ffu;
}
__device__ uint32_t odds(uint32_t v) {
  return (v >> 8) & 0x00ff00ffu;
}
/// Returns (sum + 2) / 4 for both 16-bit halves.
__device__ uint32_t quarter(uint32_t sums) {
  return ((sums + 0x00020002u) >> 2) & 0x00ff00ffu;
}

struct HalfRgba8 {
  /// Returns the mean of four RGBA pixels: a and b of the upper row, c and d of the lower one.
  __device__ static uint32_t pixel(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return quarter(evens(a) + evens(b) + evens(c) + evens(d)) | quarter(odds(a) + odds(b) + odds(c) + odds(d))
                                                                    << 8;
  }
  /// Returns the two words of means from 16 bytes of the upper and 16 of the lower row.
  __device__ static uint2 words(const uint4& a, const uint4& c) {
    return {pixel(a.x, a.y, c.x, c.y), pixel(a.z, a.w, c.z, c.w)};
  }
};

struct HalfGray8 {
  /// Returns four means from 8 samples of the upper row (a, b) and 8 of the lower one (c, d).
  __device__ static uint32_t pixels(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    const uint32_t low = quarter(evens(a) + odds(a) + evens(c) + odds(c));
    const uint32_t high = quarter(evens(b) + odds(b) + evens(d) + odds(d));
    return __byte_perm(low, high, 0x6420);
  }
  __device__ static uint2 words(const uint4& a, const uint4& c) {
    return {pixels(a.x, a.y, c.x, c.y), pixels(a.z, a.w, c.z, c.w)};
  }
};

struct HalfRgba16 {
  /// Returns two means: of the lower halves and of the upper halves of four words.
  __device__ static uint32_t pair(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    const auto sum = [=](uint32_t half) {
      return __dp2a_lo(a, half, __dp2a_lo(b, half, __dp2a_lo(c, half, __dp2a_lo(d, half, 2u))));
    };
    return sum(0x0001) >> 2 | sum(0x0100) >> 2 << 16;
  }
  __device__ static uint2 words(const uint4& a, const uint4& c) {
    return {pair(a.x, a.z, c.x, c.z), pair(a.y, a.w, c.y, c.w)};
  }
};

struct HalfGray16 {
  /// Returns the mean of the four halves of two words.
  __device__ static uint32_t sample(uint32_t a, uint32_t c) {
    return __dp2a_lo(a, 0x0101u, __dp2a_lo(c, 0x0101u, 2u)) >> 2;
  }
  __device__ static uint2 words(const uint4& a, const uint4& c) {
    return {sample(a.x, c.x) | sample(a.y, c.y) << 16, sample(a.z, c.z) | sample(a.w, c.w) << 16};
  }
};

template <class Half>
__global__ void half_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, int out_bytes) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 16;
  if (x >= out_bytes) return;
  const int y = static_cast<int>(blockIdx.y);
  const uint8_t *upper = in.row(2 * y), *lower = in.row(2 * y + 1);
  const uint8_t *upper_end = upper + 2 * out_bytes, *lower_end = lower + 2 * out_bytes;
  const uint4 a = load16(upper + 2 * x, upper, upper_end), b = load16(upper + 2 * x + 16, upper, upper_end);
  const uint4 c = load16(lower + 2 * x, lower, lower_end), d = load16(lower + 2 * x + 16, lower, lower_end);
  const uint2 left = Half::words(a, c), right = Half::words(b, d);
  store16(out.row(y) + x, uint4{left.x, left.y, right.x, right.y}, min(16, out_bytes - x));
}

}  // namespace

void Resize::launch_average_area(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const int width = args.out.width(), height = args.out.height();
  const AreaAxis x = AreaAxis::make(geometry_.x), y = AreaAxis::make(geometry_.y);
  const AreaArgs area{x,
                      y,
                      static_cast<uint64_t>(x.n) * static_cast<uint64_t>(y.n),
                      width,
                      height,
                      rows_aligned(in, 4),
                      in.as<const uint8_t>(),
                      args.out.as<uint8_t>()};
  const bool large =
      static_cast<double>(area.total) / (static_cast<double>(x.m) * y.m) >= AreaTuning::large_footprint;
  const dim3 threads =
      large ? dim3(AreaTuning::large_threads) : dim3(AreaTuning::threads_x, AreaTuning::threads_y);
  const dim3 grid =
      large ? dim3(static_cast<unsigned>(width), static_cast<unsigned>(height))
            : dim3(blocks_for(width, AreaTuning::threads_x), blocks_for(height, AreaTuning::threads_y));
  const auto kernel = in.channels() == 4 ? large ? area_large_kernel<4> : area_kernel<4>
                      : large ? area_large_kernel<1>
                                         : area_kernel<1>;
  kernel<<<grid, threads, 0, stream>>>(area);
  LENSD_LAUNCHED();
}

void Resize::launch_halve(const PassArgs& args, CudaStream stream) const {
  const int out_bytes = static_cast<int>(args.out.row_bytes());
  const dim3 grid(blocks_for(out_bytes, HalfTuning::threads * 16), static_cast<unsigned>(args.out.height()));
  const bool rgba = args.out.channels() == 4;
  const auto kernel = args.out.is_deep() ? rgba ? half_kernel<HalfRgba16> : half_kernel<HalfGray16>
                      : rgba ? half_kernel<HalfRgba8>
                                         : half_kernel<HalfGray8>;
  kernel<<<grid, HalfTuning::threads, 0, stream>>>(args.in[0].as<const uint8_t>(), args.out.as<uint8_t>(),
                                                   out_bytes);
  LENSD_LAUNCHED();
}

}  // namespace lensd
