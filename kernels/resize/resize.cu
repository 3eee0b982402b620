#include "kernels/common/pixel_words.cuh"
#include "kernels/resize/resize.hpp"

namespace lensd {
namespace {

/// A thread computes one RGBA pixel or four grey ones, so that a warp stores 128 contiguous bytes.
struct ResizeTuning {
  static constexpr int threads_x = 32, threads_y = 8;
  static constexpr int gray_pixels = 4;
};

__global__ void fill_taps_kernel(ResizeGeometry g, ResizeTable x, ResizeTable y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < g.x.m)
    fill_taps(x, g.x, g.method, i);
  else if (i < g.x.m + g.y.m)
    fill_taps(y, g.y, g.method, i - g.x.m);
}

/// dot_low() returns sum + w.low · b[0] + w.high · b[1] with the signed halves of `w`; dot_high() uses b[2]
/// and b[3].
__device__ int dot_low(int32_t w, uint32_t bytes, int sum) {
  int result;
  asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(w), "r"(bytes), "r"(sum));
  return result;
}
__device__ int dot_high(int32_t w, uint32_t bytes, int sum) {
  int result;
  asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(w), "r"(bytes), "r"(sum));
  return result;
}
__device__ int inside(int i, int n) {
  return min(max(i, 0), n - 1);
}

template <int kTaps>
__global__ void resize_rgba_kernel(ResizeGeometry g, ResizeTable table_x, ResizeTable table_y,
                                   PixelWordsIn in, PixelWordsOut out) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= g.x.m || y >= g.y.m) return;
  const int left = table_x.start[x], top = table_y.start[y];
  if constexpr (kTaps == 1) return out.set(x, y, in.at(left, top));
  int sum[4] = {};
#pragma unroll
  for (int j = 0; j < kTaps; ++j) {
    const int row = inside(top + j, g.y.n);
    int across[4] = {};
#pragma unroll
    for (int p = 0; p < kTaps / 2; ++p) {
      const uint32_t a = in.at(inside(left + 2 * p, g.x.n), row);
      const uint32_t b = in.at(inside(left + 2 * p + 1, g.x.n), row);
      const uint32_t red_green = __byte_perm(a, b, 0x5140), blue_alpha = __byte_perm(a, b, 0x7362);
      const int32_t w = table_x.pair(p)[x];
      across[0] = dot_low(w, red_green, across[0]), across[1] = dot_high(w, red_green, across[1]);
      across[2] = dot_low(w, blue_alpha, across[2]), across[3] = dot_high(w, blue_alpha, across[3]);
    }
    const int down = table_y.weight(j, y);
#pragma unroll
    for (int c = 0; c < 4; ++c) sum[c] += down * resize_horizontal(across[c]);
  }
  uint32_t pixel = 0;
#pragma unroll
  for (int c = 0; c < 4; ++c) pixel |= static_cast<uint32_t>(resize_vertical(sum[c])) << (8 * c);
  out.set(x, y, pixel);
}

template <int kTaps>
__device__ int resize_gray_pixel(const ResizeGeometry& g, const ResizeTable& table_x,
                                 const ResizeTable& table_y, const ImageView<const uint8_t>& in, int x,
                                 int y) {
  const int left = table_x.start[x], top = table_y.start[y];
  if constexpr (kTaps == 1) return in.row(top)[left];
  int sum = 0;
#pragma unroll
  for (int j = 0; j < kTaps; ++j) {
    const uint8_t* row = in.row(inside(top + j, g.y.n));
    int across = 0;
#pragma unroll
    for (int p = 0; p < kTaps / 2; ++p) {
      const uint32_t a = row[inside(left + 2 * p, g.x.n)], b = row[inside(left + 2 * p + 1, g.x.n)];
      across = dot_low(table_x.pair(p)[x], a | b << 8, across);
    }
    sum += table_y.weight(j, y) * resize_horizontal(across);
  }
  return resize_vertical(sum);
}

template <int kTaps>
__global__ void resize_gray_kernel(ResizeGeometry g, ResizeTable table_x, ResizeTable table_y,
                                   ImageView<const uint8_t> in, ImageView<uint8_t> out, bool aligned) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * ResizeTuning::gray_pixels;
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= g.x.m || y >= g.y.m) return;
  const int n = min(ResizeTuning::gray_pixels, out.extent.width - x);
  uint32_t word = 0;
  for (int i = 0; i < n; ++i)
    word |= static_cast<uint32_t>(resize_gray_pixel<kTaps>(g, table_x, table_y, in, x + i, y)) << (8 * i);
  store_bytes(out.row(y) + x, word, n, aligned);
}

template <int kTaps>
void launch_taps(const ResizeGeometry& g, const ResizeTable& x, const ResizeTable& y, const PassArgs& args,
                 CudaStream stream) {
  const ConstImageRef in = args.in[0];
  const ImageRef out = args.out;
  const int pixels = out.channels() == 4 ? 1 : ResizeTuning::gray_pixels;
  const dim3 threads(ResizeTuning::threads_x, ResizeTuning::threads_y);
  const dim3 grid(blocks_for(out.width(), ResizeTuning::threads_x * pixels),
                  blocks_for(out.height(), ResizeTuning::threads_y));
  if (out.channels() == 4)
    resize_rgba_kernel<kTaps><<<grid, threads, 0, stream>>>(g, x, y, PixelWordsIn(in), PixelWordsOut(out));
  else
    resize_gray_kernel<kTaps><<<grid, threads, 0, stream>>>(g, x, y, in.as<const uint8_t>(),
                                                            out.as<uint8_t>(), rows_aligned(out, 4));
  LENSD_LAUNCHED();
}

}  // namespace

void Resize::launch_fill_tables(const PassArgs& args, CudaStream stream) const {
  constexpr int threads = 128;
  const int taps = geometry_.x.m + geometry_.y.m;
  fill_taps_kernel<<<blocks_for(taps, threads), threads, 0, stream>>>(geometry_, table_x(args),
                                                                      table_y(args));
  LENSD_LAUNCHED();
}

void Resize::launch_interpolate(const PassArgs& args, CudaStream stream) const {
  const int taps = geometry_.taps();
  const auto launch = taps == 1   ? launch_taps<1>
                      : taps == 2 ? launch_taps<2>
                      : taps == 4 ? launch_taps<4>
                                  : launch_taps<6>;
  launch(geometry_, table_x(args), table_y(args), args, stream);
}

}  // namespace lensd
