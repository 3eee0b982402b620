#include "kernels/canny/canny.hpp"
#include "kernels/canny/canny_packed.cuh"
#include "kernels/canny/canny_tile.cuh"
#include "kernels/common/tiles/planar_tile.cuh"

namespace lensd {
namespace {

/// A block computes 128 × 32 pixels (four tiles). In gradient_segment(), two threads compute each of the 130
/// columns of magnitudes.
struct CannyTuning {
  static constexpr int threads = 288;
  static constexpr int warps = threads / 32;
  static constexpr int width = 128, height = 32;
  /// Words and rows of the input with a border of four pixels.
  static constexpr int words = width / 4 + 2, rows = height + 8;
  static constexpr int magnitude_pitch = width + 2, magnitude_rows = height + 2;
  static constexpr int segment = magnitude_rows / 2;
};

struct CannyShared {
  uint32_t input[CannyTuning::rows * CannyTuning::words];
  union {
    int32_t magnitude[CannyTuning::magnitude_rows * CannyTuning::magnitude_pitch];
    CannyPacked packed;
  };
  union {
    short2 gradient[CannyTuning::height * CannyTuning::width];
    uint32_t parents[CannyTiles::across][1024];
  };
  uint32_t weak[CannyTiles::across][32], strong[CannyTiles::across][32];
};

/// Computes derivatives and magnitudes of one column segment. Horizontal sums of A rows stay in registers.
template <int A>
__device__ void gradient_segment(CannyShared& s, int x0, int y0, Extent extent, bool l2) {
  constexpr int R = A / 2;
  const int column =
      static_cast<int>(threadIdx.x) % CannyTuning::magnitude_pitch;  // 0: one column left of the block
  const int begin = static_cast<int>(threadIdx.x) / CannyTuning::magnitude_pitch * CannyTuning::segment;
  if (begin >= CannyTuning::magnitude_rows) return;
  const auto* bytes = reinterpret_cast<const uint8_t*>(s.input);
  int smooth[A], derive[A];
  const auto load = [&](int row, int k) {  // loads the sums of input row `row - R` of the segment into slot k
    const uint8_t* p = bytes + (begin + row + 3 - R) * CannyTuning::words * 4 + column + 3;
    smooth[k] = derive[k] = 0;
#pragma unroll
    for (int i = -R; i <= R; ++i)
      smooth[k] += canny_smooth<A>(i) * p[i], derive[k] += canny_derive<A>(i) * p[i];
  };
#pragma unroll
  for (int k = 0; k < A - 1; ++k) load(k, k);
  const int x = x0 + column - 1;
#pragma unroll 1
  for (int r = 0; r < CannyTuning::segment; ++r) {
    load(r + A - 1, A - 1);
    int dx = 0, dy = 0;
#pragma unroll
    for (int k = 0; k < A; ++k)
      dx += canny_smooth<A>(k - R) * derive[k], dy += canny_derive<A>(k - R) * smooth[k];
    dx = canny_scale<A>(dx), dy = canny_scale<A>(dy);
    const int row = begin + r, y = y0 + row - 1;
    const bool inside = x >= 0 && x < extent.width && y >= 0 && y < extent.height;
    s.magnitude[row * CannyTuning::magnitude_pitch + column] = inside ? canny_magnitude(dx, dy, l2) : 0;
    if (column >= 1 && column <= CannyTuning::width && row >= 1 && row <= CannyTuning::height)
      s.gradient[(row - 1) * CannyTuning::width + column - 1] =
          make_short2(static_cast<short>(dx), static_cast<short>(dy));
#pragma unroll
    for (int k = 0; k + 1 < A; ++k) smooth[k] = smooth[k + 1], derive[k] = derive[k + 1];
  }
}

/// Computes bit masks of weak and strong pixels for any aperture and norm. The caller synchronises.
__device__ __noinline__ void classify_any(CannyShared& s, int x0, int y0, Extent extent,
                                          const CannyBlock& block) {
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t & 31;
  if (block.aperture == 3) gradient_segment<3>(s, x0, y0, extent, block.l2);
  if (block.aperture == 5) gradient_segment<5>(s, x0, y0, extent, block.l2);
  if (block.aperture == 7) gradient_segment<7>(s, x0, y0, extent, block.l2);
  __syncthreads();
  for (int unit = warp; unit < 32 * CannyTiles::across; unit += CannyTuning::warps) {
    const int tile = unit % CannyTiles::across, row = unit / CannyTiles::across, column = tile * 32 + lane;
    const int32_t* at = s.magnitude + (row + 1) * CannyTuning::magnitude_pitch + column + 1;
    const short2 g = s.gradient[row * CannyTuning::width + column];
    const int kind = canny_class(at - CannyTuning::magnitude_pitch, at, at + CannyTuning::magnitude_pitch,
                                 g.x, g.y, block.low, block.high);
    const uint32_t weak = __ballot_sync(~0u, kind == 1), strong = __ballot_sync(~0u, kind == 2);
    if (lane == 0) s.weak[tile][row] = weak, s.strong[tile][row] = strong;
  }
}

__global__ void __launch_bounds__(CannyTuning::threads)
    canny_gradient_kernel(TileSource in, CannyMasks masks, const CannyBlock* __restrict__ params) {
  __shared__ CannyShared s;
  const CannyBlock& block = *params;  // a copy would be in local memory: classify_any() needs its address
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t & 31;
  const int x0 = static_cast<int>(blockIdx.x) * CannyTuning::width,
            y0 = static_cast<int>(blockIdx.y) * CannyTuning::height;
  load_planar_tile<1>(in, x0 - 4, y0 - 4, Border::replicate, CannyTuning::words, CannyTuning::rows, s.input,
                      CannyTuning::words, 0, t, CannyTuning::threads);
  __syncthreads();
  const bool packed = block.aperture == 3 && !block.l2;
  if (packed)
    canny_kinds(s.input, CannyTuning::words, s.packed, x0, y0, in.extent, block.low, block.high);
  else
    classify_any(s, x0, y0, in.extent, block);
  __syncthreads();
  if (packed && warp < CannyTiles::across) {
    const uint2 kinds = *reinterpret_cast<const uint2*>(&s.packed.kinds[lane][8 * warp]);
    s.weak[warp][lane] = bits_of(kinds);
    s.strong[warp][lane] = bits_of(make_uint2(kinds.x >> 4, kinds.y >> 4));
  }
  if (warp >= CannyTiles::across) return;
  const int tile =
      masks.tile(static_cast<int>(blockIdx.x) * CannyTiles::across + warp, static_cast<int>(blockIdx.y));
  const uint32_t strong = canny_flood(s.strong[warp][lane], s.weak[warp][lane]);
  const uint32_t weak = s.weak[warp][lane] & ~strong;
  masks.strong[tile * 32 + lane] = strong, masks.weak[tile * 32 + lane] = weak;
  canny_label(weak, s.parents[warp], masks.parents, static_cast<uint32_t>(tile) * 1024);
}

/// Joins the edge pixels on a tile's right and lower border with those of the adjacent tiles. One warp per
/// tile.
__global__ void canny_join_kernel(CannyMasks masks) {
  const int lane = static_cast<int>(threadIdx.x & 31),
            column = static_cast<int>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
  const int row = static_cast<int>(blockIdx.y);
  if (column >= masks.columns) return;
  const CannyRim own(masks, column, row, lane), right(masks, column + 1, row, lane),
      below(masks, column, row + 1, lane);
  {  // right border: one lane per row, with three neighbours each
    const CannyRim above_right(masks, column + 1, row - 1, lane),
        below_right(masks, column + 1, row + 1, lane);
    const CannyPixel up = right.at(0, lane - 1), corner_up = above_right.at(0, 31);
    const CannyPixel down = right.at(0, lane + 1), corner_down = below_right.at(0, 0);
    canny_join(masks, own.at(31, lane), lane == 0 ? corner_up : up, right.at(0, lane),
               lane == 31 ? corner_down : down);
  }
  {  // lower border: one lane per column
    const CannyRim left_below(masks, column - 1, row + 1, lane),
        right_below(masks, column + 1, row + 1, lane);
    const CannyPixel left = below.at(lane - 1, 0), corner_left = left_below.at(31, 0);
    const CannyPixel next = below.at(lane + 1, 0), corner_right = right_below.at(0, 0);
    canny_join(masks, own.at(lane, 31), lane == 0 ? corner_left : left, below.at(lane, 0),
               lane == 31 ? corner_right : next);
  }
}

/// Floods each tile again from the pixels that the join made strong, and writes the tile's output. One warp
/// per tile.
__global__ void canny_edges_kernel(TileSource in, ImageView<uint8_t> out, bool out_aligned, CannyMasks masks,
                                   const CannyBlock* __restrict__ params) {
  const int lane = static_cast<int>(threadIdx.x & 31),
            column = static_cast<int>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
  const int row = static_cast<int>(blockIdx.y);
  if (column >= masks.columns) return;
  const uint32_t strong = canny_joined(masks, column, row, lane);
  const bool overlay = params->output == CannyOutput::overlay;
  const int x = column * 32 + lane % 8 * 4;
  for (int r = 0; r < 32; r += 4) {
    const int line = r + lane / 8, y = row * 32 + line;
    const uint32_t four = __shfl_sync(~0u, strong, line) >> (lane % 8 * 4) & 15;
    if (x >= in.extent.width || y >= in.extent.height) continue;
    uint32_t word = (four * 0x00204081u & 0x01010101u) * 255;  // moves bit i to byte i
    if (overlay) {
      uint32_t under[1];
      load_quad<1>(in, x, y, Border::replicate, under);
      word |= under[0] >> 1 & 0x7f7f7f7f;
    }
    store_bytes(out.row(y) + x, word, in.extent.width - x, out_aligned);
  }
}

}  // namespace

void Canny::launch_blur(const PassArgs& args, CudaStream stream) const {
  blur_.launch_apply(blur_args(args), stream);
}

void Canny::launch_find_edges(const PassArgs& args, CudaStream stream) const {
  if (args.in[0].is_deep()) return launch_deep_edges(args, stream);
  const CannyMasks masks = masks_of(args);
  canny_gradient_kernel<<<grid_of(masks), CannyTuning::threads, 0, stream>>>(
      TileSource(blurred(args)), masks, static_cast<const CannyBlock*>(args.block));
  LENSD_LAUNCHED();
}

void Canny::launch_join(const PassArgs& args, CudaStream stream) const {
  const CannyMasks masks = masks_of(args);
  canny_join_kernel<<<grid_of(masks), 32 * CannyTiles::across, 0, stream>>>(masks);
  LENSD_LAUNCHED();
}

void Canny::launch_write_edges(const PassArgs& args, CudaStream stream) const {
  if (args.in[0].is_deep()) return launch_deep_output(args, stream);
  const CannyMasks masks = masks_of(args);
  canny_edges_kernel<<<grid_of(masks), 32 * CannyTiles::across, 0, stream>>>(
      TileSource(args.in[0]), args.out.as<uint8_t>(), rows_aligned(args.out, 4), masks,
      static_cast<const CannyBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
