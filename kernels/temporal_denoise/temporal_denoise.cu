#include "kernels/common/chunk.cuh"
#include "kernels/temporal_denoise/temporal_denoise.hpp"

namespace lensd {
namespace {

/// Filters a word of 8-bit samples. A word of `kept` holds two estimates.
__device__ uint32_t denoise_word(uint8_t, uint32_t word, uint32_t (&kept)[2],
                                 const TemporalDenoiseBlock& block) {
  uint32_t result = 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int shift = i * 16;
    const uint32_t low = next_estimate(kept[i] & 0xffff, word >> shift & 255, block);
    const uint32_t high = next_estimate(kept[i] >> 16, word >> (shift + 8) & 255, block);
    kept[i] = low | high << 16;
    result |= (estimated_value(low) | estimated_value(high) << 8) << shift;
  }
  return result;
}

/// Filters a word of 16-bit samples. A word of `kept` holds one estimate.
__device__ uint32_t denoise_word(uint16_t, uint32_t word, uint32_t (&kept)[2],
                                 const TemporalDenoiseBlock& block) {
  kept[0] = next_deep_estimate(kept[0], word & 0xffff, block);
  kept[1] = next_deep_estimate(kept[1], word >> 16, block);
  return estimated_value(kept[0]) | estimated_value(kept[1]) << 16;
}

/// A thread loads 32 bytes of estimates for its 16 bytes of samples of type S. Does not use launch_chunks():
/// here the estimates are loaded before the chunk, which is 16 % faster on an H200.
template <class S>
__global__ void denoise_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, StatePair<uint4> state,
                               int words_per_row, int row_bytes, bool gray, bool aligned,
                               const TemporalDenoiseBlock* params) {
  const int x = chunk_x(), left = row_bytes - x;
  const int y = static_cast<int>(blockIdx.y * ChunkShape::rows + threadIdx.y);
  if (left <= 0 || y >= in.extent.height) return;
  const TemporalDenoiseBlock block = *params;
  const size_t at = static_cast<size_t>(y) * words_per_row + x / 8;
  const uint4* before = state.before() + at;
  uint4* after = state.after() + at;
  const uint4 none = make_uint4(0, 0, 0, 0);
  const bool known = state.frame->reset == 0;
  const uint4 first = known ? before[0] : none, second = known ? before[1] : none;
  uint32_t kept[4][2] = {{first.x, first.y}, {first.z, first.w}, {second.x, second.y}, {second.z, second.w}};
  Chunk chunk = load_chunk(in.row(y) + x, left, aligned);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint32_t result = denoise_word(S(), chunk.word[i], kept[i], block);
    chunk.word[i] = with_alpha(result, chunk.word[i], chunk_colour<S>(gray, i));
  }
  after[0] = make_uint4(kept[0][0], kept[0][1], kept[1][0], kept[1][1]);
  after[1] = make_uint4(kept[2][0], kept[2][1], kept[3][0], kept[3][1]);
  store_chunk(out.row(y) + x, chunk, left, aligned);
}

}  // namespace

void TemporalDenoise::launch_apply(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const auto kernel = in.is_deep() ? denoise_kernel<uint16_t> : denoise_kernel<uint8_t>;
  kernel<<<chunk_grid(in.format), chunk_block(), 0, stream>>>(
      in.as<const uint8_t>(), args.out.as<uint8_t>(), args.state_of<uint4>(),
      static_cast<int>(state_pitch(in.format) / sizeof(uint4)), static_cast<int>(in.row_bytes()),
      is_gray(in.format.format), aligned16(in) && aligned16(args.out),
      static_cast<const TemporalDenoiseBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
