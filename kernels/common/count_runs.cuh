// Counts 16-bit samples on CUDA. A block counts in shared memory and adds its counters to the totals at the
// end.
#pragma once

#include "kernels/common/chunk.cuh"

namespace lensd {

/// Calls count(c, key, pixels, sum) for the chunk's samples of each channel c. Successive samples with the
/// same key(c, v) are counted together: neighbours are often similar, and additions to one counter are
/// serialised. Samples with a negative key are skipped.
template <int kChannels, class Key, class Count>
__device__ void count_runs(const Chunk& chunk, int left, Key key, Count count) {
  constexpr int samples = ChunkShape::bytes / 2, step = kChannels == 1 ? 1 : 4;
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    int run = -1;
    uint32_t pixels = 0, sum = 0;
#pragma unroll
    for (int i = c; i < samples; i += step) {
      if (2 * i >= left) continue;
      const uint32_t v = chunk.word[i / 2] >> (i % 2 * 16) & 65535;
      const int own = key(c, v);
      if (own != run) {
        if (run >= 0) count(c, run, pixels, sum);
        run = own, pixels = 0, sum = 0;
      }
      ++pixels, sum += v;
    }
    if (run >= 0) count(c, run, pixels, sum);
  }
}

/// Calls `f.template operator()<channels>()` with the number of the format's colour channels.
template <class F>
void with_colour_channels(PixelFormat format, const F& f) {
  return is_gray(format) ? f.template operator()<1>() : f.template operator()<3>();
}

}  // namespace lensd
