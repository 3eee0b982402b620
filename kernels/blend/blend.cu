#include "kernels/blend/blend.hpp"
#include "kernels/common/chunk.cuh"

namespace lensd {
namespace {

struct BlendChunk {
  ImageView<const uint8_t> second;
  bool gray, aligned;
  const BlendBlock* block;

  __device__ void operator()(Chunk& chunk, ChunkPlace at) const {
    const BlendMode mode = block->mode;
    const uint32_t opacity = block->opacity_q8;
    const Chunk others = load_chunk(second.row(at.y) + at.x, at.left, aligned);
    const auto mix = [mode, opacity](uint32_t p, uint32_t q) {
      return pair_faded(p, pair_blended(mode, p, q), opacity);
    };
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      uint32_t other = others.word[i];
      if (mode == BlendMode::mask && !gray)
        other = static_cast<uint32_t>(luma_q8(other & 255, other >> 8 & 255, other >> 16 & 255)) * 0x010101u;
      const uint32_t word = chunk.word[i];
      const uint32_t mixed = mix(word & 255 * kPair, other & 255 * kPair) |
                             mix(word >> 8 & 255 * kPair, other >> 8 & 255 * kPair) << 8;
      chunk.word[i] = with_alpha(mixed, word, gray ? 0xffffffffu : 0x00ffffffu);
    }
  }
};

struct DeepBlendChunk {
  ImageView<const uint8_t> second;
  bool gray, aligned;
  const BlendBlock* block;

  __device__ void operator()(Chunk& chunk, ChunkPlace at) const {
    const BlendMode mode = block->mode;
    const uint32_t opacity = block->opacity_q8;
    const Chunk others = load_chunk(second.row(at.y) + at.x, at.left, aligned);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      uint32_t other = others.word[i];
      if (mode == BlendMode::mask && !gray) {
        const uint32_t red_green = others.word[i & ~1], blue = others.word[i | 1] & 65535;
        other = static_cast<uint32_t>(deep_luma(red_green & 65535, red_green >> 16, blue)) * 0x00010001u;
      }
      const uint32_t word = chunk.word[i];
      const uint32_t mixed = each_half(word, other, [mode, opacity](uint32_t p, uint32_t q) {
        return faded(p, deep_blended(mode, p, q), opacity);
      });
      chunk.word[i] = with_alpha(mixed, word, chunk_colour<uint16_t>(gray, i));
    }
  }
};

template <class Op>
void launch_blend(const PassArgs& args, CudaStream stream) {
  const ConstImageRef a = args.in[0], b = args.in[1];
  launch_chunks(
      a, args.out, stream,
      Op{b.as<const uint8_t>(), a.channels() == 1, aligned16(b), static_cast<const BlendBlock*>(args.block)});
}

}  // namespace

void Blend::launch_apply(const PassArgs& args, CudaStream stream) const {
  (args.in[0].is_deep() ? launch_blend<DeepBlendChunk> : launch_blend<BlendChunk>)(args, stream);
}

}  // namespace lensd
