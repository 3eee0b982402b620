#include "kernels/common/bytes16.cuh"
#include "kernels/resize/resize_area.cuh"

namespace lensd {
namespace {

/// A thread computes one output pixel. resize_large.cu computes the means of large footprints.
struct AreaTuning {
  static constexpr int threads_x = 32, threads_y = 8;
};

template <int kChannels>
__global__ void area_kernel(AreaArgs<uint8_t> a) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= a.out.extent.width || y >= a.out.extent.height) return;
  unsigned long long sum[kChannels] = {};
  add_footprint(a, AreaPart::whole(a, x, y), sum);
  for (int c = 0; c < kChannels; ++c) a.out.row(y)[x * kChannels + c] = area_value<uint8_t>(sum[c], a.total);
}

/// A thread computes 16 output bytes from 32 bytes of each of two rows. 8-bit samples are summed in pairs, in
/// the 16-bit halves of a word.
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
  /// Returns the mean of the lower halves and the mean of the upper halves of four words.
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
  if (AreaStrips::make(geometry_, false).count > 0) return launch_large_area(args, stream);
  const dim3 threads(AreaTuning::threads_x, AreaTuning::threads_y);
  const dim3 grid(blocks_for(args.out.width(), AreaTuning::threads_x),
                  blocks_for(args.out.height(), AreaTuning::threads_y));
  const auto kernel = args.out.channels() == 4 ? area_kernel<4> : area_kernel<1>;
  kernel<<<grid, threads, 0, stream>>>(area_args<uint8_t>(geometry_, args));
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
