#include "kernels/common/chunk.cuh"
#include "kernels/difference/difference.hpp"

namespace lensd {
namespace {

struct Aligned {
  bool a, b, out;
};

/// `last` and `seen` (a byte for each block) are null with two inputs; otherwise b is not read.
__global__ void difference_kernel(ImageView<const uint8_t> a, ImageView<const uint8_t> b,
                                  ImageView<uint8_t> out, ImageView<uint8_t> last, uint8_t* seen,
                                  int row_bytes, uint32_t colour, Aligned aligned,
                                  const DifferenceBlock* block) {
  const int x = chunk_x(), left = row_bytes - x;
  const int y = static_cast<int>(blockIdx.y * ChunkShape::rows + threadIdx.y);
  bool first = false;
  if (seen) {
    uint8_t& flag = seen[blockIdx.y * gridDim.x + blockIdx.x];
    first = flag == 0;
    __syncthreads();  // all have read before one writes
    if (threadIdx.x == 0 && threadIdx.y == 0) flag = 1;
  }
  if (left <= 0 || y >= a.extent.height) return;

  const Chunk from = load_chunk(a.row(y) + x, left, aligned.a);
  Chunk other = from;
  if (!seen)
    other = load_chunk(b.row(y) + x, left, aligned.b);
  else if (!first)
    other = load_chunk(last.row(y) + x, ChunkShape::bytes, true);
  if (seen) store_chunk(last.row(y) + x, from, ChunkShape::bytes, true);

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

}  // namespace

void Difference::launch(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef a = args.in[0];
  const bool two = args.in.size() > 1;
  const ConstImageRef b = two ? args.in[1] : a;
  auto* state = two ? nullptr : static_cast<uint8_t*>(args.state);
  const ImageView<uint8_t> last{state, static_cast<std::ptrdiff_t>(state_pitch(a.format)), a.format.extent};
  difference_kernel<<<chunk_grid(a.format), chunk_block(), 0, stream>>>(
      a.as<const uint8_t>(), b.as<const uint8_t>(), args.out.as<uint8_t>(), last,
      two ? nullptr : state + flags_offset(a.format), static_cast<int>(a.row_bytes()),
      colour_bits(a.format.format), Aligned{aligned16(a), aligned16(b), aligned16(args.out)},
      static_cast<const DifferenceBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
