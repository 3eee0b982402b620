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

}  // namespace

void Levels::launch_apply(const PassArgs& args, CudaStream stream) const {
  const auto* block = static_cast<const LevelsBlock*>(args.block);
  launch_lut(args.in[0], args.out, &block->tables, stream,
             Saturate{block, args.in[0].format.format == PixelFormat::gray8});
}

}  // namespace lensd
