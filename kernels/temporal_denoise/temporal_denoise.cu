#include "kernels/common/chunk.cuh"
#include "kernels/common/deep/samples.cuh"
#include "kernels/temporal_denoise/temporal_denoise.hpp"

namespace lensd {
namespace {

/// A thread loads 32 bytes of estimates for its 16 values, two per word. Does not use launch_chunks(): here
/// the estimates are loaded before the chunk, which is 16 % faster on an H200.
__global__ void denoise_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, StatePair<uint4> state,
                               int words_per_row, int row_bytes, uint32_t colour, bool aligned,
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
  uint32_t pairs[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
  Chunk chunk = load_chunk(in.row(y) + x, left, aligned);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    uint32_t& word = chunk.word[i / 2];
    const int shift = i % 2 * 16;
    const uint32_t low = next_estimate(pairs[i] & 0xffff, word >> shift & 255, block);
    const uint32_t high = next_estimate(pairs[i] >> 16, word >> (shift + 8) & 255, block);
    pairs[i] = low | high << 16;
    const uint32_t result = (estimated_value(low) | estimated_value(high) << 8) << shift;
    word = with_alpha(result, word, colour & 0xffffu << shift);
  }
  after[0] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
  after[1] = make_uint4(pairs[4], pairs[5], pairs[6], pairs[7]);
  store_chunk(out.row(y) + x, chunk, left, aligned);
}

struct DeepDenoise {
  StatePair<uint32_t> state;
  size_t pitch;  ///< from one row of estimates to the next, in estimates
  const TemporalDenoiseBlock* block;

  __device__ uint32_t operator()(int i, int y, uint32_t v) const {
    const size_t at = pitch * y + i;
    const uint32_t kept = state.frame->reset ? 0 : state.before()[at];
    const uint32_t next = next_deep_estimate(kept, v, *block);
    state.after()[at] = next;
    return estimated_value(next);
  }
  /// Rows of estimates start at multiples of 32 bytes.
  __device__ void apply(int i, int y, DeepPixel& v) const {
    const size_t at = pitch * y + i;
    // All values are loaded before they are used, so that the thread waits for memory once.
    const TemporalDenoiseBlock values = *block;
    const bool reset = state.frame->reset != 0;
    uint4 kept = *reinterpret_cast<const uint4*>(state.before() + at);
    if (reset) kept = make_uint4(0, 0, 0, 0);
    uint32_t next[4] = {kept.x, kept.y, kept.z, kept.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      next[k] = next_deep_estimate(next[k], v.v[k], values);
      v.v[k] = static_cast<uint16_t>(estimated_value(next[k]));
    }
    *reinterpret_cast<uint4*>(state.after() + at) = make_uint4(next[0], next[1], next[2], next[3]);
  }
};

}  // namespace

void TemporalDenoise::launch_deep(const PassArgs& args, CudaStream stream) const {
  launch_deep_samples(
      args.in[0], args.out, stream,
      DeepDenoise{args.state_of<uint32_t>(), state_pitch(args.in[0].format) / sizeof(uint32_t),
                  static_cast<const TemporalDenoiseBlock*>(args.block)});
}

void TemporalDenoise::launch_apply(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  if (in.is_deep()) return launch_deep(args, stream);
  denoise_kernel<<<chunk_grid(in.format), chunk_block(), 0, stream>>>(
      in.as<const uint8_t>(), args.out.as<uint8_t>(), args.state_of<uint4>(),
      static_cast<int>(state_pitch(in.format) / sizeof(uint4)), static_cast<int>(in.row_bytes()),
      colour_bits(in.format.format), aligned16(in) && aligned16(args.out),
      static_cast<const TemporalDenoiseBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
