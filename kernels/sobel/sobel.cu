#include "kernels/common/planar_tile.cuh"
#include "kernels/sobel/sobel.hpp"

namespace lensd {
namespace {

/// A thread computes 4 × 4 pixels, a block 128 × 32.
struct SobelTuning {
  static constexpr int threads_x = 32, threads_y = 8;
  static constexpr int rows = 4;
  static constexpr int tile_rows = threads_y * rows;
  static constexpr int words = threads_x + 2;
};

/// Bytes 3 of `left`, 0 … 3 of `centre`, 0 of `right`: six pixels of a row.
struct SobelSix {
  int v[6];
  __device__ explicit SobelSix(const uint32_t* p) {
    v[0] = static_cast<int>(p[-1] >> 24), v[5] = static_cast<int>(p[1] & 255);
    for (int i = 0; i < 4; ++i) v[i + 1] = static_cast<int>(p[0] >> (8 * i) & 255);
  }
};

__global__ void sobel_kernel(TileSource in, ImageView<uint8_t> out, bool out_aligned,
                             const SobelBlock* __restrict__ params) {
  __shared__ uint32_t tile[(SobelTuning::tile_rows + 2) * SobelTuning::words];
  const SobelBlock block = *params;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int x0 = static_cast<int>(blockIdx.x) * SobelTuning::threads_x * 4,
            y0 = static_cast<int>(blockIdx.y) * SobelTuning::tile_rows;
  load_planar_tile<1>(in, x0 - 4, y0 - 1, block.border, SobelTuning::words, SobelTuning::tile_rows + 2, tile,
                      SobelTuning::words, 0, ty * SobelTuning::threads_x + tx,
                      SobelTuning::threads_x * SobelTuning::threads_y);
  __syncthreads();
  const int x = x0 + 4 * tx;
  if (x >= out.extent.width) return;
  const uint32_t* from = tile + ty * SobelTuning::rows * SobelTuning::words + tx + 1;
  SobelSix above(from), at(from + SobelTuning::words);
#pragma unroll
  for (int r = 0; r < SobelTuning::rows; ++r) {
    const int y = y0 + ty * SobelTuning::rows + r;
    if (y >= out.extent.height) return;
    const SobelSix below(from + (r + 2) * SobelTuning::words);
    uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int dx =
          above.v[i + 2] + 2 * at.v[i + 2] + below.v[i + 2] - above.v[i] - 2 * at.v[i] - below.v[i];
      const int dy =
          below.v[i] + 2 * below.v[i + 1] + below.v[i + 2] - above.v[i] - 2 * above.v[i + 1] - above.v[i + 2];
      word |= static_cast<uint32_t>(sobel_value(block.output, dx, dy)) << (8 * i);
    }
    store_bytes(out.row(y) + x, word, out.extent.width - x, out_aligned);
    above = at, at = below;
  }
}

}  // namespace

void Sobel::launch(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const dim3 grid(blocks_for(in.width(), SobelTuning::threads_x * 4),
                  blocks_for(in.height(), SobelTuning::tile_rows));
  sobel_kernel<<<grid, dim3(SobelTuning::threads_x, SobelTuning::threads_y), 0, stream>>>(
      TileSource(in), args.out.as<uint8_t>(), rows_aligned(args.out, 4),
      static_cast<const SobelBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
