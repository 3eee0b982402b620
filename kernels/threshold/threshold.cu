#include "kernels/common/chunk.cuh"
#include "kernels/threshold/threshold.hpp"

namespace lensd {
namespace {

/// Computes the Otsu levels, with one block of 256 threads per channel. One thread adds the values to the
/// class, since the order of these operations is fixed. Then each thread computes the variance for one level.
__global__ void otsu_kernel(ThresholdStats* stats, double pixels) {
  __shared__ double weight[256], mean[256], variance[256];
  __shared__ bool valid[256];
  __shared__ unsigned long long moment;
  const int v = static_cast<int>(threadIdx.x), c = static_cast<int>(blockIdx.x);
  const double scale = 1. / pixels;
  const uint32_t count = stats->histogram.count[c][v];
  weight[v] = count * scale;  // probability of the value; after the loop below, weight of the class
  if (v == 0) moment = 0;
  __syncthreads();
  atomicAdd(&moment, static_cast<unsigned long long>(count) * static_cast<unsigned long long>(v));
  if (v == 0) {
    OtsuClass below;
    for (int i = 0; i < 256; ++i) {
      valid[i] = below.grow(i, weight[i]);
      weight[i] = below.weight, mean[i] = below.mean;
    }
  }
  __syncthreads();
  const double total = static_cast<double>(moment) * scale;
  variance[v] = valid[v] ? OtsuClass{weight[v], mean[v]}.variance(total) : 0;
  __syncthreads();
  if (v == 0) {
    double best = 0;
    uint32_t level = 0;
    for (int i = 0; i < 256; ++i)
      if (variance[i] > best) best = variance[i], level = static_cast<uint32_t>(i);
    stats->level[c] = level;
    stats->describe(gridDim.x == 1, false);
  }
}

/// Applies the thresholds to chunks of samples of type S.
template <class S>
struct ThresholdChunk {
  bool gray, otsu;
  const ThresholdBlock* block;
  ThresholdStats* stats;

  __device__ void operator()(Chunk& chunk, ChunkPlace at) const {
    constexpr bool deep = sizeof(S) == 2;
    const uint32_t fixed = deep ? block->deep : block->level;
    uint32_t level[3];
    for (int c = 0; c < 3; ++c) level[c] = otsu ? stats->level[gray ? 0 : c] : fixed;
    if (!otsu && at.x == 0 && at.y == 0) {
      stats->describe(gray, deep);
      for (int c = 0; c < (gray ? 1 : 3); ++c) stats->level[c] = fixed;
    }
    uint32_t levels[2];  // levels in even and in odd words
    if constexpr (deep)
      levels[0] = level[0] | level[1] << 16, levels[1] = level[2] | level[2] << 16;
    else
      levels[0] = levels[1] = level[0] | level[1] << 8 | level[2] << 16 | level[0] << 24;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      uint32_t& w = chunk.word[i];
      const uint32_t binary = sizeof(S) == 1 ? __vcmpgtu4(w, levels[0]) : __vcmpgtu2(w, levels[i % 2]);
      w = with_alpha(binary, w, chunk_colour<S>(gray, i));
    }
  }
};

template <class S>
void launch_threshold(const PassArgs& args, bool otsu, CudaStream stream) {
  launch_chunks(
      args.in[0], args.out, stream,
      ThresholdChunk<S>{args.in[0].channels() == 1, otsu, static_cast<const ThresholdBlock*>(args.block),
                        static_cast<ThresholdStats*>(args.stats)});
}

}  // namespace

void Threshold::launch_count(const PassArgs& args, CudaStream stream) const {
  launch_tally(args.in[0], &static_cast<ThresholdStats*>(args.stats)->histogram, stream);
}

void Threshold::launch_choose_level(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  otsu_kernel<<<static_cast<unsigned>(colour_channels(in.format.format)), 256, 0, stream>>>(
      static_cast<ThresholdStats*>(args.stats), static_cast<double>(in.width()) * in.height());
  LENSD_LAUNCHED();
}

void Threshold::launch_apply(const PassArgs& args, CudaStream stream) const {
  (args.in[0].is_deep() ? launch_threshold<uint16_t> : launch_threshold<uint8_t>)(args, otsu_, stream);
}

}  // namespace lensd
