#include "kernels/common/deep/pixels.cuh"
#include "kernels/common/lut.cuh"
#include "kernels/levels/levels.hpp"

namespace lensd {
namespace {

/// Applies the saturation to a word. Reads the factor from device memory, so that a captured CUDA graph stays
/// valid when the factor changes.
struct Saturate {
  const LevelsBlock* block;
  bool gray;

  __device__ uint32_t operator()(uint32_t word) const {
    if (gray) return word;
    const int r = static_cast<int>(word & 255), g = static_cast<int>(word >> 8 & 255),
              b = static_cast<int>(word >> 16 & 255);
    const int luma = luma_q8(r, g, b), factor = block->saturation_q10;
    return saturated(r, luma, factor) | static_cast<uint32_t>(saturated(g, luma, factor)) << 8 |
           static_cast<uint32_t>(saturated(b, luma, factor)) << 16 | (word & 0xff000000u);
  }
};

/// A thread processes one pixel in colour, or one grey one.
template <int kChannels>
__global__ void deep_levels_kernel(ImageView<const uint16_t> in, ImageView<uint16_t> out, bool aligned,
                                   const DeepLevelsBlock* block) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= in.extent.width) return;
  if constexpr (kChannels == 1) {
    out.row(y)[x] = block->table[in.row(y)[x]];
  } else {
    DeepPixel p = load_deep(in.row(y) + 4 * x, aligned);
    int v[3];
    for (int c = 0; c < 3; ++c) v[c] = block->table[p.v[c]];
    const int luma = luma_q8(v[0], v[1], v[2]), factor = block->saturation_q10;
    for (int c = 0; c < 3; ++c) p.v[c] = static_cast<uint16_t>(deep_saturated(v[c], luma, factor));
    store_deep(out.row(y) + 4 * x, p, aligned);
  }
}

}  // namespace

void Levels::launch_deep(const PassArgs& args, CudaStream stream) const {
  constexpr int threads = 256;
  const ConstImageRef in = args.in[0];
  const dim3 grid(blocks_for(in.width(), threads), static_cast<unsigned>(in.height()));
  (in.channels() == 1 ? deep_levels_kernel<1> : deep_levels_kernel<4>)<<<grid, threads, 0, stream>>>(
      in.as<const uint16_t>(), args.out.as<uint16_t>(), rows_aligned(in, 8) && rows_aligned(args.out, 8),
      static_cast<const DeepLevelsBlock*>(args.block));
  LENSD_LAUNCHED();
}

void Levels::launch_apply(const PassArgs& args, CudaStream stream) const {
  if (deep_) return launch_deep(args, stream);
  const auto* block = static_cast<const LevelsBlock*>(args.block);
  launch_lut(args.in[0], args.out, &block->tables, stream,
             Saturate{block, is_gray(args.in[0].format.format)});
}

}  // namespace lensd
