#include "kernels/common/pixel_words.cuh"
#include "kernels/resize/resize.hpp"

namespace lensd {
namespace {

/// A thread makes one RGBA pixel or four gray ones, so that a warp stores 128 bytes in a row.
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

/// sum + w.low · b[0] + w.high · b[1] of signed halves and unsigned bytes; `high`: bytes 2 and 3.
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
__device__ int weight_of(const ResizeTable& table, int k, int i) {
  return static_cast<int16_t>(static_cast<uint32_t>(table.pair(k / 2)[i]) >> (k % 2 * 16));
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
    const int down = weight_of(table_y, j, y);
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
    sum += weight_of(table_y, j, y) * resize_horizontal(across);
  }
  return resize_vertical(sum);
}

/// Four gray pixels from x on; `pixel(x)` makes one.
template <class Pixel>
__device__ void store_gray(ImageView<uint8_t> out, int x, int y, bool aligned, Pixel pixel) {
  const int n = min(ResizeTuning::gray_pixels, out.extent.width - x);
  uint32_t word = 0;
  for (int i = 0; i < n; ++i) word |= static_cast<uint32_t>(pixel(x + i)) << (8 * i);
  uint8_t* p = out.row(y) + x;
  store_bytes(p, word, n, aligned);
}

template <int kTaps>
__global__ void resize_gray_kernel(ResizeGeometry g, ResizeTable table_x, ResizeTable table_y,
                                   ImageView<const uint8_t> in, ImageView<uint8_t> out, bool aligned) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * ResizeTuning::gray_pixels;
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= g.x.m || y >= g.y.m) return;
  store_gray(out, x, y, aligned,
             [&](int at) { return resize_gray_pixel<kTaps>(g, table_x, table_y, in, at, y); });
}

__global__ void nearest_rgba_kernel(ResizeTable table_x, ResizeTable table_y, PixelWordsIn in,
                                    PixelWordsOut out) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < table_x.m && y < table_y.m) out.set(x, y, in.at(table_x.start[x], table_y.start[y]));
}

__global__ void nearest_gray_kernel(ResizeTable table_x, ResizeTable table_y, ImageView<const uint8_t> in,
                                    ImageView<uint8_t> out, bool aligned) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * ResizeTuning::gray_pixels;
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= table_x.m || y >= table_y.m) return;
  const uint8_t* row = in.row(table_y.start[y]);
  store_gray(out, x, y, aligned, [&](int at) { return row[table_x.start[at]]; });
}

struct Launch {
  dim3 grid, threads;
  bool aligned;
  Launch(const ImageRef& out)
      : grid(blocks_for(out.width(),
                        ResizeTuning::threads_x * (out.channels() == 4 ? 1 : ResizeTuning::gray_pixels)),
             blocks_for(out.height(), ResizeTuning::threads_y)),
        threads(ResizeTuning::threads_x, ResizeTuning::threads_y),
        aligned(rows_aligned(out, 4)) {}
};

template <int kTaps>
void launch_taps(const ResizeGeometry& g, const ResizeTable& x, const ResizeTable& y, const PassArgs& args,
                 CudaStream stream) {
  const Launch shape(args.out);
  if (args.out.channels() == 4)
    resize_rgba_kernel<kTaps><<<shape.grid, shape.threads, 0, stream>>>(g, x, y, PixelWordsIn(args.in[0]),
                                                                        PixelWordsOut(args.out));
  else
    resize_gray_kernel<kTaps><<<shape.grid, shape.threads, 0, stream>>>(
        g, x, y, args.in[0].as<const uint8_t>(), args.out.as<uint8_t>(), shape.aligned);
}

void launch_nearest(const ResizeTable& x, const ResizeTable& y, const PassArgs& args, CudaStream stream) {
  const Launch shape(args.out);
  if (args.out.channels() == 4)
    nearest_rgba_kernel<<<shape.grid, shape.threads, 0, stream>>>(x, y, PixelWordsIn(args.in[0]),
                                                                  PixelWordsOut(args.out));
  else
    nearest_gray_kernel<<<shape.grid, shape.threads, 0, stream>>>(x, y, args.in[0].as<const uint8_t>(),
                                                                  args.out.as<uint8_t>(), shape.aligned);
}

}  // namespace

void Resize::launch(const PassArgs& args, CudaStream stream) const {
  const ResizeGeometry& g = geometry_;
  if (g.path == ResizePath::area || g.path == ResizePath::half)
    return launch_means(g, args.in[0], args.out, stream);
  const ResizeTable x = table_x(args), y = table_y(args);
  if (fills_taps(args)) {
    constexpr int threads = 128;
    fill_taps_kernel<<<blocks_for(g.x.m + g.y.m, threads), threads, 0, stream>>>(g, x, y);
  } else if (g.path == ResizePath::nearest) {
    launch_nearest(x, y, args, stream);
  } else if (g.taps() == 2) {
    launch_taps<2>(g, x, y, args, stream);
  } else if (g.taps() == 4) {
    launch_taps<4>(g, x, y, args, stream);
  } else {
    launch_taps<6>(g, x, y, args, stream);
  }
  LENSD_LAUNCHED();
}

}  // namespace lensd
