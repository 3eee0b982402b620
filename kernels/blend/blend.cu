#include "kernels/blend/blend.hpp"
#include "kernels/common/chunk.cuh"

namespace lensd {
namespace {

/// Returns word `i` of an RGBA chunk with the luma of its pixel in every sample. `S`: type of the samples.
template <class S>
__device__ uint32_t luma_word(const Chunk& chunk, int i) {
  if constexpr (sizeof(S) == 1) {
    const uint32_t pixel = chunk.word[i];
    return static_cast<uint32_t>(luma_q8(pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255)) * 0x010101u;
  } else {
    const uint32_t red_green = chunk.word[i & ~1], blue = chunk.word[i | 1] & 65535;
    return static_cast<uint32_t>(deep_luma(red_green & 65535, red_green >> 16, blue)) * 0x00010001u;
  }
}

/// Blends two words sample by sample. `S`: type of the samples.
template <class S>
__device__ uint32_t blended_word(uint32_t word, uint32_t other, BlendMode mode, uint32_t opacity) {
  if constexpr (sizeof(S) == 1) {
    const auto mix = [mode, opacity](uint32_t p, uint32_t q) {
      return pair_faded(p, pair_blended(mode, p, q), opacity);
    };
    return mix(word & 255 * kPair, other & 255 * kPair) |
           mix(word >> 8 & 255 * kPair, other >> 8 & 255 * kPair) << 8;
  } else {
    return each_half(word, other, [mode, opacity](uint32_t p, uint32_t q) {
      return faded(p, deep_blended(mode, p, q), opacity);
    });
  }
}

template <class S>
struct BlendChunk {
  ImageView<const uint8_t> second;
  bool gray, aligned;
  const BlendBlock* block;

  __device__ void operator()(Chunk& chunk, ChunkPlace at) const {
    const BlendMode mode = block->mode;
    const uint32_t opacity = block->opacity_q8;
    const Chunk others = load_chunk(second.row(at.y) + at.x, at.left, aligned);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t word = chunk.word[i],
                     other = mode == BlendMode::mask && !gray ? luma_word<S>(others, i) : others.word[i];
      chunk.word[i] = with_alpha(blended_word<S>(word, other, mode, opacity), word, chunk_colour<S>(gray, i));
    }
  }
};

template <class S>
void launch_blend(const PassArgs& args, CudaStream stream) {
  const ConstImageRef a = args.in[0], b = args.in[1];
  launch_chunks(a, args.out, stream,
                BlendChunk<S>{b.as<const uint8_t>(), a.channels() == 1, aligned16(b),
                              static_cast<const BlendBlock*>(args.block)});
}

}  // namespace

void Blend::launch_apply(const PassArgs& args, CudaStream stream) const {
  (args.in[0].is_deep() ? launch_blend<uint16_t> : launch_blend<uint8_t>)(args, stream);
}

}  // namespace lensd
