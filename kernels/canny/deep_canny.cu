// canny of 16-bit images on CUDA: gradient and output. canny.cu joins the edges.
#include "core/device/cuda_fwd.hpp"
#include "kernels/canny/canny.hpp"
#include "kernels/canny/canny_tile.cuh"

namespace lensd {
namespace {

/// A block computes a tile of 32 × 32 pixels.
struct DeepCannyTuning {
  static constexpr int threads = 256, side = 32;
  static constexpr int input = side + 2 + 2 * kCannyMaxReach;  ///< side of the input with its border
  static constexpr int magnitudes = side + 2;
};

struct DeepCannyShared {
  uint16_t input[DeepCannyTuning::input][DeepCannyTuning::input];
  int64_t magnitude[DeepCannyTuning::magnitudes][DeepCannyTuning::magnitudes];
  int2 gradient[DeepCannyTuning::side][DeepCannyTuning::side];
  uint32_t parents[1024];
  uint32_t weak[32], strong[32];
};

/// Computes the tile's derivatives and magnitudes from the samples in shared memory.
template <int A>
__device__ void deep_gradients(DeepCannyShared& s, int x0, int y0, Extent extent, bool l2) {
  constexpr int R = A / 2, kSide = DeepCannyTuning::magnitudes;
  for (int i = static_cast<int>(threadIdx.x); i < kSide * kSide; i += DeepCannyTuning::threads) {
    const int row = i / kSide, column = i % kSide, x = x0 + column - 1, y = y0 + row - 1;
    int dx = 0, dy = 0;
    for (int v = -R; v <= R; ++v) {
      int smooth = 0, derive = 0;
#pragma unroll
      for (int u = -R; u <= R; ++u) {
        const int sample = s.input[row + kCannyMaxReach + v][column + kCannyMaxReach + u];
        smooth += canny_smooth<A>(u) * sample, derive += canny_derive<A>(u) * sample;
      }
      dx += canny_smooth<A>(v) * derive, dy += canny_derive<A>(v) * smooth;
    }
    dx = canny_scale<A>(dx), dy = canny_scale<A>(dy);
    const bool inside = x >= 0 && x < extent.width && y >= 0 && y < extent.height;
    s.magnitude[row][column] = inside ? deep_canny_magnitude(dx, dy, l2) : 0;
    if (row >= 1 && row <= 32 && column >= 1 && column <= 32)
      s.gradient[row - 1][column - 1] = make_int2(dx, dy);
  }
}

__global__ void __launch_bounds__(DeepCannyTuning::threads)
    deep_gradient_kernel(ImageView<const uint16_t> in, CannyMasks masks,
                         const CannyBlock* __restrict__ block) {
  __shared__ DeepCannyShared s;
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  const int x0 = static_cast<int>(blockIdx.x) * 32, y0 = static_cast<int>(blockIdx.y) * 32;
  constexpr int kInput = DeepCannyTuning::input, kBorder = kCannyMaxReach + 1;
  for (int i = t; i < kInput * kInput; i += DeepCannyTuning::threads) {
    const int x = min(max(x0 - kBorder + i % kInput, 0), in.extent.width - 1);
    const int y = min(max(y0 - kBorder + i / kInput, 0), in.extent.height - 1);
    s.input[i / kInput][i % kInput] = in.row(y)[x];
  }
  __syncthreads();
  if (block->aperture == 3) deep_gradients<3>(s, x0, y0, in.extent, block->l2);
  if (block->aperture == 5) deep_gradients<5>(s, x0, y0, in.extent, block->l2);
  if (block->aperture == 7) deep_gradients<7>(s, x0, y0, in.extent, block->l2);
  __syncthreads();
  for (int row = warp; row < 32; row += DeepCannyTuning::threads / 32) {
    const int64_t* at = &s.magnitude[row + 1][lane + 1];
    const int2 g = s.gradient[row][lane];
    const int kind = deep_canny_class(at - DeepCannyTuning::magnitudes, at, at + DeepCannyTuning::magnitudes,
                                      g.x, g.y, block->deep_low, block->deep_high);
    const uint32_t weak = __ballot_sync(~0u, kind == 1), strong = __ballot_sync(~0u, kind == 2);
    if (lane == 0) s.weak[row] = weak, s.strong[row] = strong;
  }
  __syncthreads();
  if (warp > 0) return;
  const int tile = masks.tile(static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y));
  const uint32_t strong = canny_flood(s.strong[lane], s.weak[lane]);
  const uint32_t weak = s.weak[lane] & ~strong;
  masks.strong[tile * 32 + lane] = strong, masks.weak[tile * 32 + lane] = weak;
  canny_label(weak, s.parents, masks.parents, static_cast<uint32_t>(tile) * 1024);
}

/// Writes a tile's output; one warp per tile.
__global__ void deep_edges_kernel(ImageView<const uint16_t> in, ImageView<uint16_t> out, CannyMasks masks,
                                  const CannyBlock* __restrict__ params) {
  const int lane = static_cast<int>(threadIdx.x & 31),
            column = static_cast<int>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
  const int row = static_cast<int>(blockIdx.y);
  if (column >= masks.columns) return;
  const uint32_t strong = canny_joined(masks, column, row, lane);
  const bool overlay = params->output == CannyOutput::overlay;
  const int x = column * 32 + lane;
  for (int line = 0; line < 32; ++line) {
    const bool edge = (__shfl_sync(~0u, strong, line) >> lane & 1) != 0;
    const int y = row * 32 + line;
    if (x >= in.extent.width || y >= in.extent.height) continue;
    out.row(y)[x] = static_cast<uint16_t>(edge ? 65535 : overlay ? in.row(y)[x] / 2 : 0);
  }
}

}  // namespace

void Canny::launch_deep_edges(const PassArgs& args, CudaStream stream) const {
  const CannyMasks masks = masks_of(args);
  const dim3 grid(static_cast<unsigned>(masks.columns), static_cast<unsigned>(masks.rows));
  deep_gradient_kernel<<<grid, DeepCannyTuning::threads, 0, stream>>>(
      blurred(args).as<const uint16_t>(), masks, static_cast<const CannyBlock*>(args.block));
  LENSD_LAUNCHED();
}

void Canny::launch_deep_output(const PassArgs& args, CudaStream stream) const {
  const CannyMasks masks = masks_of(args);
  deep_edges_kernel<<<grid_of(masks), 32 * CannyTiles::across, 0, stream>>>(
      args.in[0].as<const uint16_t>(), args.out.as<uint16_t>(), masks,
      static_cast<const CannyBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
