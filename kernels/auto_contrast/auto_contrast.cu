#include "kernels/auto_contrast/auto_contrast.hpp"
#include "kernels/common/launch.cuh"

namespace lensd {
namespace {

/// Computes the ends and the tables with one block of 256 threads; thread v processes value v. Prefix sums of
/// the counts yield the ends; then all threads fill the tables. With 16 bits, `tables` is null, and maps are
/// computed instead.
__global__ void ends_kernel(const AutoContrastBlock* block, int channels, StatePair<AutoContrastState> states,
                            AutoContrastStats* stats, LutTables* tables, AffineMaps* maps) {
  __shared__ uint32_t up_to[256];  // number of samples ≤ v; at most 3 · 2^28
  __shared__ int low, high;
  __shared__ ContrastEnds ends;
  const int v = static_cast<int>(threadIdx.x);
  const AutoContrastState state = states.past();
  const bool first = state.seen == 0;
  if (v == 0) ends = state.ends;
  for (int c = 0; c < channels; ++c) {
    const int from = block->per_channel ? c : 0, to = block->per_channel ? c + 1 : channels;
    uint32_t count = 0;
    for (int k = from; k < to; ++k) count += stats->tally.histogram.count[k][v];
    up_to[v] = count;
    if (v == 0) low = 0, high = 255;
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
      const uint32_t before = v >= distance ? up_to[v - distance] : 0;
      __syncthreads();
      up_to[v] += before;
      __syncthreads();
    }
    const uint64_t samples = up_to[255];
    if (is_low_end(up_to[v], count, clip_limit(samples, block->clip_low_ppm))) low = v;
    if (is_high_end(samples, up_to[v], count, clip_limit(samples, block->clip_high_ppm))) high = v;
    __syncthreads();
    if (v == 0) {
      const OwnEnds own =
          tables ? OwnEnds{double(low), double(high)} : deep_ends(stats->tally, from, to, low, high);
      move_ends(*block, own.low, own.high, first, c, ends);
    }
    __syncthreads();
    if (tables) tables->channel[c][v] = contrast_value(ends, c, v);
  }
  if (v == 0) {
    states.after()->seen = 1, states.after()->ends = ends;
    stats->ends = ends, stats->channels = static_cast<uint64_t>(channels);
    for (int c = 0; c < channels && !tables; ++c) maps->channel[c] = AutoContrast::affine(*block, *stats, c);
  }
}

}  // namespace

void AutoContrast::launch_decide(const PassArgs& args, CudaStream stream) const {
  ends_kernel<<<1, 256, 0, stream>>>(device_block(args), colour_channels(args.in[0].format.format),
                                     args.state_of<AutoContrastState>(), stats_of(args),
                                     args.in[0].is_deep() ? nullptr : tables_of(args), maps_of(args));
  LENSD_LAUNCHED();
}

}  // namespace lensd
