#include "kernels/blend/blend.hpp"
#include "kernels/common/chunk.cuh"

namespace lensd {
namespace {

__global__ void blend_kernel(ImageView<const uint8_t> a, ImageView<const uint8_t> b, ImageView<uint8_t> out,
                             int row_bytes, bool gray, bool aligned, const BlendBlock* block) {
  const int x = chunk_x(), left = row_bytes - x;
  const int y = static_cast<int>(blockIdx.y * ChunkShape::rows + threadIdx.y);
  if (left <= 0 || y >= a.extent.height) return;
  const BlendMode mode = block->mode;
  const uint32_t opacity = block->opacity_q8;
  const Chunk first = load_chunk(a.row(y) + x, left, aligned);
  const Chunk second = load_chunk(b.row(y) + x, left, aligned);
  Chunk result;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    uint32_t other = second.word[i];
    if (mode == BlendMode::mask && !gray)
      other = blend_luma(other & 255, other >> 8 & 255, other >> 16 & 255) * 0x010101u;
    const auto mix = [mode, opacity](uint32_t p, uint32_t q) {
      return pair_faded(p, pair_blended(mode, p, q), opacity);
    };
    const uint32_t word = first.word[i];
    const uint32_t mixed = mix(word & 255 * kPair, other & 255 * kPair) |
                           mix(word >> 8 & 255 * kPair, other >> 8 & 255 * kPair) << 8;
    result.word[i] = with_alpha(mixed, word, gray ? 0xffffffffu : 0x00ffffffu);
  }
  store_chunk(out.row(y) + x, result, left, aligned);
}

}  // namespace

void Blend::launch(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef a = args.in[0], b = args.in[1];
  blend_kernel<<<chunk_grid(a.format), chunk_block(), 0, stream>>>(
      a.as<const uint8_t>(), b.as<const uint8_t>(), args.out.as<uint8_t>(), static_cast<int>(a.row_bytes()),
      a.format.format == PixelFormat::gray8, aligned16(a) && aligned16(b) && aligned16(args.out),
      static_cast<const BlendBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
