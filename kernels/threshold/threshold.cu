#include "kernels/common/chunk.cuh"
#include "kernels/common/deep/samples.cuh"
#include "kernels/threshold/threshold.hpp"

namespace lensd {
namespace {

/// Computes the Otsu levels, with one block of 256 threads per channel. One thread adds the values to the
/// class, since the order of these operations is prescribed. Then each thread computes the variance for one
/// level.
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
    stats->channels = gridDim.x;
  }
}

struct ThresholdChunk {
  bool gray, otsu;
  const ThresholdBlock* block;
  ThresholdStats* stats;

  __device__ void operator()(Chunk& chunk, ChunkPlace at) const {
    uint32_t level[3];
    for (int c = 0; c < 3; ++c) level[c] = otsu ? stats->level[gray ? 0 : c] : block->level;
    if (!otsu && at.x == 0 && at.y == 0) {
      stats->channels = gray ? 1 : 3;
      for (int c = 0; c < (gray ? 1 : 3); ++c) stats->level[c] = block->level;
    }
    const uint32_t levels = level[0] | level[1] << 8 | level[2] << 16 | level[0] << 24;
    const uint32_t colour = colour_bits(gray ? PixelFormat::gray8 : PixelFormat::rgba8);
#pragma unroll
    for (uint32_t& w : chunk.word) w = with_alpha(__vcmpgtu4(w, levels), w, colour);
  }
};

struct DeepThreshold {
  bool gray, otsu;
  const ThresholdBlock* block;
  ThresholdStats* stats;

  __device__ uint32_t operator()(int i, int y, uint32_t v) const {
    const int c = gray ? 0 : i % 4;
    const uint32_t highest = otsu ? deep_otsu_level(stats->level[c]) : block->deep;
    if (!otsu && y == 0 && i < 3) {
      stats->channels = gray ? 1 : 3;
      if (i < (gray ? 1 : 3)) stats->level[i] = block->level;
    }
    return v > highest ? 65535 : 0;
  }
};

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
  const ConstImageRef in = args.in[0];
  if (in.is_deep())
    return launch_deep_samples(
        in, args.out, stream,
        DeepThreshold{in.channels() == 1, otsu_, static_cast<const ThresholdBlock*>(args.block),
                      static_cast<ThresholdStats*>(args.stats)});
  launch_chunks(in, args.out, stream,
                ThresholdChunk{in.channels() == 1, otsu_, static_cast<const ThresholdBlock*>(args.block),
                               static_cast<ThresholdStats*>(args.stats)});
}

}  // namespace lensd
