// The passes that find Otsu's levels of 16-bit images on CUDA.
#include "kernels/threshold/deep_otsu.hpp"

#include "kernels/common/count_runs.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/threshold/threshold.hpp"

namespace lensd {
namespace {

/// Uses few large blocks, because each block adds its tables to the totals at the end. A block's threads use
/// different copies of a table, so that additions to one value are spread over several banks. Values of the
/// range beyond OtsuTables::window are counted in global memory; few images have such values. Other values of
/// these constants were not measured.
struct OtsuTuning {
  static constexpr int threads = 512, max_blocks = 264;
};
template <int kChannels>
struct OtsuTables {
  static constexpr int copies = kChannels == 1 ? 8 : 4;
  static constexpr int window = kChannels == 1 ? 4096 : 2048, window_copies = kChannels == 1 ? 2 : 1;
  static_assert(kChannels * 256 * copies * 2 * sizeof(uint32_t) <= kPlainSharedBytes);
  static_assert(kChannels * window * window_copies * sizeof(uint32_t) <= kPlainSharedBytes);
};

/// Adds the image's pixels and low bytes to the totals by high byte.
template <int kChannels>
__global__ void __launch_bounds__(OtsuTuning::threads)
    otsu_high_bytes_kernel(ImageView<const uint8_t> in, int row_bytes, bool aligned,
                           DeepThresholdStats* stats) {
  constexpr int copies = OtsuTables<kChannels>::copies, counters = kChannels * 256 * copies;
  // [channel][high byte][copy]. A block has about 2^28 / 264 pixels at most, so its sums of low bytes fit in
  // 32 bits.
  __shared__ uint32_t pixel_table[counters], low_table[counters];
  const int thread = static_cast<int>(threadIdx.x), copy = thread % copies;
  for (int i = thread; i < counters; i += OtsuTuning::threads) pixel_table[i] = 0, low_table[i] = 0;
  __syncthreads();

  each_chunk(in, row_bytes, aligned, [&](const Chunk& chunk, int left) {
    count_runs<kChannels>(
        chunk, left, [](int, uint32_t v) { return static_cast<int>(v >> 8); },
        [&](int c, int high, uint32_t pixels, uint32_t sum) {
          const int i = (c * 256 + high) * copies + copy;
          atomicAdd(&pixel_table[i], pixels);
          atomicAdd(&low_table[i], sum - pixels * 256 * static_cast<uint32_t>(high));
        });
  });
  __syncthreads();

  for (int i = thread; i < kChannels * 256; i += OtsuTuning::threads) {
    uint32_t pixels = 0, lows = 0;
    for (int k = 0; k < copies; ++k) {
      const int at = i * copies + (k + i) % copies;
      pixels += pixel_table[at], lows += low_table[at];
    }
    if (pixels == 0) continue;
    atomicAdd(&stats->shown.histogram.count[i / 256][i % 256], pixels);
    atomicAdd(reinterpret_cast<unsigned long long*>(&stats->low_sums.sum[i / 256][i % 256]),
              static_cast<unsigned long long>(lows));
  }
}

/// Counts the values in the ranges. `total`: for each channel 65536 counters, the range's first value first.
template <int kChannels>
__global__ void __launch_bounds__(OtsuTuning::threads)
    otsu_values_kernel(ImageView<const uint8_t> in, int row_bytes, bool aligned,
                       const DeepThresholdStats* stats, uint32_t* total) {
  constexpr int copies = OtsuTables<kChannels>::window_copies, window = OtsuTables<kChannels>::window;
  __shared__ uint32_t table[kChannels * window * copies];  // [channel][value][copy]
  const int thread = static_cast<int>(threadIdx.x), copy = thread % copies;
  uint32_t first[kChannels], values[kChannels];
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    first[c] = stats->range[c].first_value(), values[c] = stats->range[c].values();
    const int used = min(static_cast<int>(values[c]), window) * copies;
    for (int i = thread; i < used; i += OtsuTuning::threads) table[c * window * copies + i] = 0;
  }
  __syncthreads();

  each_chunk(in, row_bytes, aligned, [&](const Chunk& chunk, int left) {
    count_runs<kChannels>(
        chunk, left,
        [&](int c, uint32_t v) { return v - first[c] < values[c] ? static_cast<int>(v - first[c]) : -1; },
        [&](int c, int i, uint32_t pixels, uint32_t) {
          if (i < window)
            atomicAdd(&table[(c * window + i) * copies + copy], pixels);
          else
            atomicAdd(&total[c * kOtsuValues + i], pixels);
        });
  });
  __syncthreads();

#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    const int used = min(static_cast<int>(values[c]), window);
    for (int i = thread; i < used; i += OtsuTuning::threads) {
      uint32_t pixels = 0;
      for (int k = 0; k < copies; ++k) pixels += table[(c * window + i) * copies + k];
      if (pixels != 0) atomicAdd(&total[c * kOtsuValues + i], pixels);
    }
  }
}

/// Threads of the kernels below, one for each low or high byte; one block per channel.
constexpr int kOtsuThreads = 256;
constexpr int kOtsuWarps = kOtsuThreads / 32;

/// Returns the sums of this and all lower threads of the block. Call from all threads.
__device__ OtsuSums sums_up_to(OtsuSums own) {
  __shared__ OtsuSums of_warp[kOtsuWarps];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  own = {warp_inclusive_sum(own.pixels), warp_inclusive_sum(own.sum)};
  __syncthreads();  // waits until all threads have read the last call's sums
  if (lane == 31) of_warp[warp] = own;
  __syncthreads();
  for (int w = 0; w < warp; ++w) own = own + of_warp[w];
  return own;
}

/// Returns the best level of all threads of the block to each of them. Call once, from all threads.
__device__ OtsuBest best_of_block(OtsuBest own) {
  __shared__ OtsuBest of_warp[kOtsuWarps];
  for (int distance = 16; distance > 0; distance /= 2) {
    const double variance = __shfl_xor_sync(0xffffffffu, own.variance, distance);
    const uint32_t level = __shfl_xor_sync(0xffffffffu, own.level, distance);
    own.offer(variance, level);
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
  __syncthreads();
  for (const OtsuBest& other : of_warp) own.offer(other.variance, other.level);
  return own;
}

__device__ OtsuSums sums_of(const DeepThresholdStats* stats, uint32_t c, uint32_t v) {
  return otsu_sums(v, stats->shown.histogram.count[c][v], stats->low_sums.sum[c][v]);
}

/// Chooses the high bytes that can have the level, and clears the counters of their values.
__global__ void __launch_bounds__(kOtsuThreads)
    otsu_range_kernel(DeepThresholdStats* stats, uint32_t* total) {
  __shared__ OtsuSums all;
  __shared__ OtsuRange range;
  const uint32_t v = threadIdx.x, c = blockIdx.x;
  const OtsuSums own = sums_of(stats, c, v), up_to = sums_up_to(own), below = up_to - own;
  if (v == kOtsuThreads - 1) all = up_to;
  if (v == 0) range.begin = 256, range.end = 0;
  __syncthreads();
  OtsuBest ends{};
  ends.offer(otsu_variance(up_to, all), v);
  ends = best_of_block(ends);
  const bool in_range = otsu_in_range(ends, v, own, below, all);
  if (in_range) atomicMin(&range.begin, v), atomicMax(&range.end, v + 1);
  __syncthreads();
  if (v == range.begin) {
    OtsuRange& to = stats->range[c];
    to.below = below, to.all = all, to.begin = range.begin, to.end = range.end;
    if (c == 0) stats->shown.describe(gridDim.x == 1, true);
  }
  const uint32_t values = range.values();
  for (uint32_t i = v; i < values; i += kOtsuThreads) total[c * kOtsuValues + i] = 0;
}

/// Chooses the level from the counters of the values in the range. Thread v evaluates the levels with low
/// byte v.
__global__ void __launch_bounds__(kOtsuThreads)
    otsu_deep_level_kernel(DeepThresholdStats* stats, const uint32_t* total) {
  const uint32_t v = threadIdx.x, c = blockIdx.x;
  const OtsuRange range = stats->range[c];
  OtsuSums below = range.below;
  OtsuBest best{};
  for (uint32_t high = range.begin; high < range.end; ++high) {
    const OtsuSums own = sums_of(stats, c, high);
    if (own.pixels == 0) continue;  // the same in all threads
    const uint32_t level = high * 256 + v;
    const uint32_t pixels = total[c * kOtsuValues + (level - range.first_value())];
    const OtsuSums lower = below + sums_up_to({pixels, static_cast<uint64_t>(level) * pixels});
    best.offer(otsu_variance(lower, range.all), level);
    below = below + own;
  }
  best = best_of_block(best);
  if (v == 0) stats->shown.level[c] = best.level;
}

unsigned otsu_blocks(const ImageFormat& format) {
  return walk_blocks(format, OtsuTuning::threads, OtsuTuning::max_blocks);
}

uint32_t* value_counters(const PassArgs& args) {
  return reinterpret_cast<uint32_t*>(args.scratch[0]);
}

}  // namespace

void Threshold::launch_count_high_bytes(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  with_colour_channels(in.format.format, [&]<int kChannels>() {
    otsu_high_bytes_kernel<kChannels><<<otsu_blocks(in.format), OtsuTuning::threads, 0, stream>>>(
        in.as<const uint8_t>(), static_cast<int>(in.row_bytes()), aligned16(in),
        static_cast<DeepThresholdStats*>(args.stats));
  });
  LENSD_LAUNCHED();
}

void Threshold::launch_choose_range(const PassArgs& args, CudaStream stream) const {
  otsu_range_kernel<<<static_cast<unsigned>(colour_channels(args.in[0].format.format)), kOtsuThreads, 0,
                      stream>>>(static_cast<DeepThresholdStats*>(args.stats), value_counters(args));
  LENSD_LAUNCHED();
}

void Threshold::launch_count_values(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  with_colour_channels(in.format.format, [&]<int kChannels>() {
    otsu_values_kernel<kChannels><<<otsu_blocks(in.format), OtsuTuning::threads, 0, stream>>>(
        in.as<const uint8_t>(), static_cast<int>(in.row_bytes()), aligned16(in),
        static_cast<const DeepThresholdStats*>(args.stats), value_counters(args));
  });
  LENSD_LAUNCHED();
}

void Threshold::launch_choose_deep_level(const PassArgs& args, CudaStream stream) const {
  otsu_deep_level_kernel<<<static_cast<unsigned>(colour_channels(args.in[0].format.format)), kOtsuThreads, 0,
                           stream>>>(static_cast<DeepThresholdStats*>(args.stats), value_counters(args));
  LENSD_LAUNCHED();
}

}  // namespace lensd
