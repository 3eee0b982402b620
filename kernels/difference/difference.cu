#include "kernels/common/chunk.cuh"
#include "kernels/common/deep/samples.cuh"
#include "kernels/difference/difference.hpp"

namespace lensd {
namespace {

struct Aligned {
  bool a, b, out;
};

/// Computes the amplified difference of `a` and `b`. With one input, `b` is not read; the previous frame is
/// in `state`, in rows `state_pitch` bytes apart. Does not use launch_chunks(), which takes 1.5 times as long
/// here on an H200.
__global__ void difference_kernel(ImageView<const uint8_t> a, ImageView<const uint8_t> b,
                                  ImageView<uint8_t> out, StatePair<uint8_t> state, int state_pitch, bool two,
                                  int row_bytes, uint32_t colour, Aligned aligned,
                                  const DifferenceBlock* block) {
  const int x = chunk_x(), left = row_bytes - x;
  const int y = static_cast<int>(blockIdx.y * ChunkShape::rows + threadIdx.y);
  if (left <= 0 || y >= a.extent.height) return;
  const Chunk from = load_chunk(a.row(y) + x, left, aligned.a);
  Chunk other = from;
  if (two) {
    other = load_chunk(b.row(y) + x, left, aligned.b);
  } else {
    const size_t at = static_cast<size_t>(y) * state_pitch + x;
    if (!state.frame->reset) other = load_chunk(state.before() + at, ChunkShape::bytes, true);
    store_chunk(state.after() + at, from, ChunkShape::bytes, true);
  }
  const uint32_t gain = block->gain_q8;
  Chunk result;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint32_t d = each_byte(from.word[i], other.word[i],
                                 [gain](uint32_t p, uint32_t q) { return amplified_difference(p, q, gain); });
    result.word[i] = with_alpha(d, from.word[i], colour);
  }
  store_chunk(out.row(y) + x, result, left, aligned.out);
}

struct DeepDifference {
  ImageView<const uint16_t> second;
  StatePair<uint8_t> state;
  int state_pitch;
  bool two, aligned;  ///< two inputs; the second one's rows start at multiples of 8 bytes
  const DifferenceBlock* block;

  __device__ uint32_t operator()(int i, int y, uint32_t v) const {
    const size_t at = static_cast<size_t>(y) * state_pitch + 2 * static_cast<size_t>(i);
    uint32_t other = v;
    if (two) {
      other = second.row(y)[i];
    } else {
      if (!state.frame->reset) other = *reinterpret_cast<const uint16_t*>(state.before() + at);
      *reinterpret_cast<uint16_t*>(state.after() + at) = static_cast<uint16_t>(v);
    }
    return amplified_difference(v, other, block->gain_q8, 65535);
  }
  /// Rows of the state start at multiples of 16 bytes.
  __device__ void apply(int i, int y, DeepPixel& v) const {
    const size_t at = static_cast<size_t>(y) * state_pitch + 2 * static_cast<size_t>(i);
    // All values are loaded before they are used, so that the thread waits for memory once.
    const uint32_t gain = block->gain_q8;
    DeepPixel other;
    if (two) {
      other = load_deep(second.row(y) + i, aligned);
    } else {
      const bool reset = state.frame->reset != 0;
      other = load_deep(reinterpret_cast<const uint16_t*>(state.before() + at), true);
      if (reset) other = v;
      store_deep(reinterpret_cast<uint16_t*>(state.after() + at), v, true);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
      v.v[k] = static_cast<uint16_t>(amplified_difference(v.v[k], other.v[k], gain, 65535));
  }
};

}  // namespace

void Difference::launch_deep(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef a = args.in[0];
  const bool two = args.in.size() > 1;
  launch_deep_samples(
      a, args.out, stream,
      DeepDifference{(two ? args.in[1] : a).as<const uint16_t>(), args.state_of<uint8_t>(),
                     static_cast<int>(state_pitch(a.format)), two, rows_aligned(two ? args.in[1] : a, 8),
                     static_cast<const DifferenceBlock*>(args.block)});
}

void Difference::launch_apply(const PassArgs& args, CudaStream stream) const {
  if (args.in[0].is_deep()) return launch_deep(args, stream);
  const ConstImageRef a = args.in[0];
  const bool two = args.in.size() > 1;
  const ConstImageRef b = two ? args.in[1] : a;
  difference_kernel<<<chunk_grid(a.format), chunk_block(), 0, stream>>>(
      a.as<const uint8_t>(), b.as<const uint8_t>(), args.out.as<uint8_t>(), args.state_of<uint8_t>(),
      static_cast<int>(state_pitch(a.format)), two, static_cast<int>(a.row_bytes()),
      colour_bits(a.format.format), Aligned{aligned16(a), aligned16(b), aligned16(args.out)},
      static_cast<const DifferenceBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
