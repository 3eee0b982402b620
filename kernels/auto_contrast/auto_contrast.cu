#include "kernels/auto_contrast/auto_contrast.hpp"
#include "kernels/common/count_runs.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"

namespace lensd {
namespace {

constexpr int kBytes = 256;

/// Returns the black and white point among the bytes, in all threads. `count`: number of samples with byte v,
/// in thread v; ignored in threads above 255. `below`: number of samples smaller than all counted ones. Call
/// from all threads of the block, at least 256.
template <int kThreads>
__device__ BytePoints find_points(uint32_t count, uint64_t below, uint64_t samples,
                                  const ClipLimits& limits) {
  __shared__ BytePoints points;
  const int v = static_cast<int>(threadIdx.x);
  __syncthreads();  // waits until all threads have read the results of the last call
  if (v == 0) points.low.byte = 0, points.low.below = 0, points.high.byte = 255, points.high.below = 0;
  // The sum is at most 3 · 2^28. block_inclusive_sum() contains the barrier that `points` needs.
  const uint64_t all = below + block_inclusive_sum<kThreads>(count);
  if (v < kBytes) {
    if (is_black_point(all, count, limits.low)) points.low.byte = v, points.low.below = all - count;
    if (is_white_point(samples, all, count, limits.high))
      points.high.byte = v, points.high.below = all - count;
  }
  __syncthreads();
  return points;
}

/// Uses few large blocks, because each block adds its tables to the totals at the end. A block's threads use
/// different copies of a table, so that additions to one value are spread over several banks. Other values
/// were not measured.
struct LowBytesTuning {
  static constexpr int threads = 512, max_blocks = 264;
  static constexpr int copies(int channels) { return channels == 1 ? 8 : 4; }
};

/// Counts the low bytes of the samples with a point's high byte. `pixels`: number of pixels in the image.
template <int kChannels>
__global__ void __launch_bounds__(LowBytesTuning::threads)
    low_bytes_kernel(ImageView<const uint8_t> in, int row_bytes, bool aligned, uint64_t pixels,
                     const AutoContrastBlock* block, AutoContrastStats* stats) {
  if (!is_clipped(*block, pixels, kChannels)) return;
  constexpr int copies = LowBytesTuning::copies(kChannels), counters = kChannels * 2 * kBytes * copies;
  __shared__ uint32_t table[counters];  // [channel][point][low byte][copy]
  static_assert(sizeof(table) <= kPlainSharedBytes);
  const int thread = static_cast<int>(threadIdx.x), copy = thread % copies;
  for (int i = thread; i < counters; i += LowBytesTuning::threads) table[i] = 0;

  int first[kChannels], second[kChannels];
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    const ContrastChannels channels(*block, c, kChannels);
    const uint64_t samples = pixels * static_cast<uint64_t>(channels.size());
    const ClipLimits limits = clip_limits(*block, samples);
    const uint32_t count = thread < kBytes ? channels.sum(stats->tally.histogram.count, thread) : 0;
    const CountedBytes counted(find_points<LowBytesTuning::threads>(count, 0, samples, limits), limits);
    first[c] = counted.byte[0], second[c] = counted.byte[1];
  }

  each_chunk(in, row_bytes, aligned, [&](const Chunk& chunk, int left) {
    count_runs<kChannels>(
        chunk, left,
        [&](int c, uint32_t v) {
          const int high = static_cast<int>(v >> 8), low = static_cast<int>(v & 255);
          return high == first[c] ? low : high == second[c] ? kBytes + low : -1;
        },
        [&](int c, int i, uint32_t samples, uint32_t) {
          atomicAdd(&table[(c * 2 * kBytes + i) * copies + copy], samples);
        });
  });
  __syncthreads();

  for (int i = thread; i < kChannels * 2 * kBytes; i += LowBytesTuning::threads) {
    uint32_t samples = 0;
    for (int k = 0; k < copies; ++k) samples += table[i * copies + (k + i) % copies];
    if (samples != 0)
      atomicAdd(&stats->low_bytes[i / kBytes % 2].count[i / (2 * kBytes)][i % kBytes], samples);
  }
}

/// Returns the black and white points of a 16-bit image's channels, in all threads. Call from all 256 threads
/// of the block.
__device__ FramePoints find_deep_points(const AutoContrastStats& stats, const ContrastChannels& channels,
                                        const ClipLimits& limits, const BytePoints& high_bytes,
                                        uint64_t samples) {
  const int v = static_cast<int>(threadIdx.x);
  const CountedBytes counted(high_bytes, limits);
  int low = 0, high = 0;
  if (limits.low > 0) {
    const uint32_t count = channels.sum(stats.low_bytes[counted.table(high_bytes.low.byte)].count, v);
    low = find_points<kBytes>(count, high_bytes.low.below, samples, limits).low.byte;
  }
  if (limits.high > 0) {
    const uint32_t count = channels.sum(stats.low_bytes[counted.table(high_bytes.high.byte)].count, v);
    high = find_points<kBytes>(count, high_bytes.high.below, samples, limits).high.byte;
  }
  return deep_points(stats.tally.range, channels, limits, high_bytes, low, high);
}

/// Computes the points and the tables with one block of 256 threads; thread v processes value v. For 16-bit
/// images, `tables` is null and the kernel computes maps instead.
__global__ void __launch_bounds__(kBytes)
    decide_kernel(const AutoContrastBlock* block, int colours, uint64_t pixels,
                  StatePair<AutoContrastState> states, AutoContrastStats* stats, LutTables* tables,
                  AffineMaps* maps) {
  __shared__ ContrastPoints points;
  const int v = static_cast<int>(threadIdx.x);
  const AutoContrastState state = states.past();
  const bool first = state.seen == 0;
  if (v == 0) points = state.points;
  for (int c = 0; c < colours; ++c) {
    const ContrastChannels channels(*block, c, colours);
    const uint64_t samples = pixels * static_cast<uint64_t>(channels.size());
    const ClipLimits limits = clip_limits(*block, samples);
    const BytePoints bytes =
        find_points<kBytes>(channels.sum(stats->tally.histogram.count, v), 0, samples, limits);
    const FramePoints own = tables ? FramePoints{double(bytes.low.byte), double(bytes.high.byte)}
                                   : find_deep_points(*stats, channels, limits, bytes, samples);
    if (v == 0) move_points(*block, own.low, own.high, first, c, points);
    __syncthreads();
    if (tables) tables->channel[c][v] = contrast_value(points, c, v);
  }
  if (v == 0) {
    states.after()->seen = 1, states.after()->points = points;
    stats->points = points, stats->channels = static_cast<uint64_t>(colours);
    for (int c = 0; c < colours && !tables; ++c) maps->channel[c] = AutoContrast::affine(*block, *stats, c);
  }
}

}  // namespace

void AutoContrast::launch_count_low_bytes(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  with_colour_channels(in.format.format, [&]<int kChannels>() {
    low_bytes_kernel<kChannels><<<walk_blocks(in.format, LowBytesTuning::threads, LowBytesTuning::max_blocks),
                                  LowBytesTuning::threads, 0, stream>>>(
        in.as<const uint8_t>(), static_cast<int>(in.row_bytes()), aligned16(in), pixel_count(in.format),
        device_block(args), stats_of(args));
  });
  LENSD_LAUNCHED();
}

void AutoContrast::launch_decide(const PassArgs& args, CudaStream stream) const {
  decide_kernel<<<1, kBytes, 0, stream>>>(device_block(args), colour_channels(args.in[0].format.format),
                                          pixel_count(args.in[0].format), args.state_of<AutoContrastState>(),
                                          stats_of(args), args.in[0].is_deep() ? nullptr : tables_of(args),
                                          maps_of(args));
  LENSD_LAUNCHED();
}

}  // namespace lensd
