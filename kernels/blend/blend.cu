#include "kernels/blend/blend.hpp"
#include "kernels/common/chunk.cuh"
#include "kernels/common/deep/samples.cuh"

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

struct DeepBlend {
  ImageView<const uint16_t> second;
  bool rgba;
  const BlendBlock* block;

  __device__ uint32_t operator()(int i, int y, uint32_t v) const {
    const BlendMode mode = block->mode;
    const uint16_t* row = second.row(y);
    uint32_t other = row[i];
    if (mode == BlendMode::mask && rgba) {
      const uint16_t* pixel = row + i / 4 * 4;
      other = static_cast<uint32_t>(luma_q8(pixel[0], pixel[1], pixel[2]));
    }
    return faded(v, deep_blended(mode, v, other), block->opacity_q8);
  }
};

}  // namespace

void Blend::launch_deep(const PassArgs& args, CudaStream stream) const {
  launch_deep_samples(args.in[0], args.out, stream,
                      DeepBlend{args.in[1].as<const uint16_t>(), args.in[0].channels() == 4,
                                static_cast<const BlendBlock*>(args.block)});
}

void Blend::launch_apply(const PassArgs& args, CudaStream stream) const {
  if (args.in[0].is_deep()) return launch_deep(args, stream);
  const ConstImageRef a = args.in[0], b = args.in[1];
  launch_chunks(a, args.out, stream,
                BlendChunk{b.as<const uint8_t>(), a.channels() == 1, aligned16(b),
                           static_cast<const BlendBlock*>(args.block)});
}

}  // namespace lensd
