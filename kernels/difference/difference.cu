#include "kernels/common/chunk.cuh"
#include "kernels/difference/difference.hpp"

namespace lensd {
namespace {

struct Aligned {
  bool a, b, out;
};

/// Computes amplified_difference() of each sample of type S of a word.
template <class S>
__device__ uint32_t word_difference(uint32_t a, uint32_t b, uint32_t gain) {
  const auto sample = [gain](uint32_t p, uint32_t q) { return amplified_difference(p, q, gain, kWhite<S>); };
  if constexpr (sizeof(S) == 1)
    return each_byte(a, b, sample);
  else
    return each_half(a, b, sample);
}

/// Computes the amplified difference of `a` and `b`, whose bytes hold samples of type S. With one input, `b`
/// is not read, and the previous frame is in `state`, with rows `state_pitch` bytes apart. Does not use
/// launch_chunks(), which takes 1.5 times as long here on an H200.
template <class S>
__global__ void difference_kernel(ImageView<const uint8_t> a, ImageView<const uint8_t> b,
                                  ImageView<uint8_t> out, StatePair<uint8_t> state, int state_pitch, bool two,
                                  int row_bytes, bool gray, Aligned aligned, const DifferenceBlock* block) {
  const int x = chunk_x(), left = row_bytes - x;
  const int y = static_cast<int>(blockIdx.y * ChunkShape::rows + threadIdx.y);
  if (left <= 0 || y >= a.extent.height) return;
  const uint32_t gain = block->gain_q8;  // loaded before the stores: the compiler would not move it up
  const Chunk from = load_chunk(a.row(y) + x, left, aligned.a);
  Chunk other = from;
  if (two) {
    other = load_chunk(b.row(y) + x, left, aligned.b);
  } else {
    const size_t at = static_cast<size_t>(y) * state_pitch + x;
    if (!state.frame->reset) other = load_chunk(state.before() + at, ChunkShape::bytes, true);
    store_chunk(state.after() + at, from, ChunkShape::bytes, true);
  }
  Chunk result;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint32_t d = word_difference<S>(from.word[i], other.word[i], gain);
    result.word[i] = with_alpha(d, from.word[i], chunk_colour<S>(gray, i));
  }
  store_chunk(out.row(y) + x, result, left, aligned.out);
}

}  // namespace

void Difference::launch_apply(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef a = args.in[0];
  const bool two = args.in.size() > 1;
  const ConstImageRef b = two ? args.in[1] : a;
  const auto kernel = a.is_deep() ? difference_kernel<uint16_t> : difference_kernel<uint8_t>;
  kernel<<<chunk_grid(a.format), chunk_block(), 0, stream>>>(
      a.as<const uint8_t>(), b.as<const uint8_t>(), args.out.as<uint8_t>(), args.state_of<uint8_t>(),
      static_cast<int>(state_pitch(a.format)), two, static_cast<int>(a.row_bytes()), is_gray(a.format.format),
      Aligned{aligned16(a), aligned16(b), aligned16(args.out)},
      static_cast<const DifferenceBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
