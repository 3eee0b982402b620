// launch_deep_samples(): the CUDA counterpart of samples.hpp.
#pragma once

#include "kernels/common/chunk.cuh"

namespace lensd {

/// Applies `op` of launch_deep_samples() to the eight samples of a chunk.
template <class Op>
struct DeepSampleChunk {
  Op op;
  bool rgba;

  __device__ void operator()(Chunk& chunk, ChunkPlace at) const {
    const int i = at.x / 2, n = at.left / 2;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (k >= n || (rgba && k % 4 == 3)) continue;
      uint32_t& word = chunk.word[k / 2];
      const int shift = k % 2 * 16;
      const auto v = static_cast<uint32_t>(op(i + k, at.y, word >> shift & 65535));
      word = (word & ~(65535u << shift)) | v << shift;
    }
  }
};

/// Writes op(i, y, v) for each colour sample v, which is sample i of row y; copies alpha. `op` must return 0
/// to 65535. `i & 3` is known at compile time.
template <class Op>
void launch_deep_samples(const ConstImageRef& in, const ImageRef& out, CudaStream stream, const Op& op) {
  launch_chunks(in, out, stream, DeepSampleChunk<Op>{op, in.channels() == 4});
}

}  // namespace lensd
