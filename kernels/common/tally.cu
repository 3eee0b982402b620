#include <type_traits>

#include "kernels/common/chunk.cuh"
#include "kernels/common/tally.hpp"
#include "kernels/common/warp.cuh"

namespace lensd {
namespace {

/// Uses few large blocks, because each block adds its tables to the total at the end. The copies of a table
/// are interleaved, so that a warp's increments of one value are spread over 8 banks. `max_blocks` is two per
/// multiprocessor on GPUs with 132; not measured.
struct TallyTuning {
  static constexpr int threads = 512;
  static constexpr int max_blocks = 264;
  static constexpr int copies = 8;
  static_assert(3 * 256 * copies * sizeof(uint32_t) <= kPlainSharedBytes);
};

unsigned tally_blocks(const ImageFormat& format) {
  return walk_blocks(format, TallyTuning::threads, TallyTuning::max_blocks);
}

__device__ void extend(SampleRange& range, int c, uint32_t v) {
  range.highest[c] = max(range.highest[c], v);
  range.lowest_below_white[c] = max(range.lowest_below_white[c], 65535 - v);
}

/// The range of a block's samples, in shared memory. All threads of the block call the functions.
struct BlockRange {
  SampleRange range;

  __device__ void clear() {
    const unsigned c = threadIdx.x;
    if (c < 3) range.highest[c] = 0, range.lowest_below_white[c] = 0;
    __syncthreads();
  }

  /// Extends `total` by the ranges `own` of the threads.
  __device__ void add(const SampleRange& own, int channels, SampleRange& total) {
    for (int c = 0; c < channels; ++c) merge(range, c, own);
    __syncthreads();
    const int c = static_cast<int>(threadIdx.x);
    if (c < channels) merge(total, c, range);
  }

 private:
  __device__ static void merge(SampleRange& into, int c, const SampleRange& from) {
    atomicMax(&into.highest[c], from.highest[c]);
    atomicMax(&into.lowest_below_white[c], from.lowest_below_white[c]);
  }
};

/// Counts samples of type S; 16-bit samples are counted by their high bytes. `kRange`, for 16-bit samples
/// only: also extends `range`.
template <class S, bool kRange>
__global__ void __launch_bounds__(TallyTuning::threads)
    histogram_kernel(ImageView<const uint8_t> in, int row_bytes, int channels, bool aligned, Histogram* total,
                     RangeHistogram* range) {
  extern __shared__ uint32_t tables[];  // [channel][value][copy]
  __shared__ BlockRange block_range;
  constexpr int copies = TallyTuning::copies;
  const int thread = static_cast<int>(threadIdx.x), copy = thread % copies;
  for (int i = thread; i < channels * 256 * copies; i += TallyTuning::threads) tables[i] = 0;
  block_range.clear();

  SampleRange own{};
  each_chunk(in, row_bytes, aligned, [&](const Chunk& chunk, int left) {
#pragma unroll
    for (int i = sizeof(S) - 1; i < ChunkShape::bytes; i += sizeof(S)) {
      const int c = channels == 1 ? 0 : i / static_cast<int>(sizeof(S)) % 4;
      if (c == 3 || i >= left) continue;
      const int value = static_cast<int>(chunk.word[i / 4] >> (i % 4 * 8) & 255);
      atomicAdd(&tables[(c * 256 + value) * copies + copy], 1u);
      if constexpr (kRange) extend(own, c, chunk.word[i / 4] >> (i / 2 % 2 * 16) & 65535);
    }
  });
  if constexpr (kRange)
    block_range.add(own, channels, range->range);
  else
    __syncthreads();

  for (int i = thread; i < channels * 256; i += TallyTuning::threads) {
    uint32_t count = 0;
    for (int k = 0; k < copies; ++k) count += tables[i * copies + (k + i) % copies];
    if (count != 0) atomicAdd(&total->count[i / 256][i % 256], count);
  }
}

void launch_histogram(const ConstImageRef& in, Histogram* total, RangeHistogram* range, CudaStream stream) {
  const int channels = colour_channels(in.format.format);
  const size_t shared = static_cast<size_t>(channels) * 256 * TallyTuning::copies * sizeof(uint32_t);
  const auto kernel = !in.is_deep() ? histogram_kernel<uint8_t, false>
                      : range       ? histogram_kernel<uint16_t, true>
                                    : histogram_kernel<uint16_t, false>;
  kernel<<<tally_blocks(in.format), TallyTuning::threads, shared, stream>>>(
      in.as<const uint8_t>(), static_cast<int>(in.row_bytes()), channels, aligned16(in), total, range);
  LENSD_LAUNCHED();
}

/// Adds the image's channel sums to `total`. S: type of its samples, which `in` views as bytes.
template <class S>
__global__ void __launch_bounds__(TallyTuning::threads)
    sums_kernel(ImageView<const uint8_t> in, int row_bytes, bool gray, bool aligned, ChannelSums* total) {
  __shared__ unsigned long long block_sums[3];
  if (threadIdx.x < 3) block_sums[threadIdx.x] = 0;
  __syncthreads();

  // A warp adds about 2^28 / 4224 pixels at most. So its sums of bytes fit in 32 bits, and so do the sums of
  // 16-bit samples of a thread.
  uint32_t r = 0, g = 0, b = 0;
  each_chunk(in, row_bytes, aligned, [&](const Chunk& chunk, int left) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t w = chunk.word[i];
      if constexpr (sizeof(S) == 2) {
        if (gray || i % 2 == 0) r += w & 65535;
        if (gray) r += w >> 16;
        if (!gray && i % 2 == 0) g += w >> 16;
        if (!gray && i % 2 == 1) b += w & 65535;
      } else if (gray) {
        r += (w & 255) + (w >> 8 & 255) + (w >> 16 & 255) + (w >> 24);
      } else {
        r += w & 255, g += w >> 8 & 255, b += w >> 16 & 255;
      }
    }
  });
  using Sum = std::conditional_t<sizeof(S) == 2, unsigned long long, uint32_t>;
  const Sum sums[] = {warp_sum(Sum{r}), warp_sum(Sum{g}), warp_sum(Sum{b})};
  if (threadIdx.x % 32 == 0)
    for (int c = 0; c < 3; ++c) atomicAdd(&block_sums[c], static_cast<unsigned long long>(sums[c]));
  __syncthreads();
  if (threadIdx.x < 3)
    atomicAdd(reinterpret_cast<unsigned long long*>(&total->sum[threadIdx.x]), block_sums[threadIdx.x]);
}

}  // namespace

void launch_tally(const ConstImageRef& in, Histogram* total, CudaStream stream) {
  launch_histogram(in, total, nullptr, stream);
}

void launch_tally(const ConstImageRef& in, RangeHistogram* total, CudaStream stream) {
  launch_histogram(in, &total->histogram, total, stream);
}

void launch_tally(const ConstImageRef& in, ChannelSums* total, CudaStream stream) {
  with_sample_type(in.format.format, [&]<class S>() {
    sums_kernel<S><<<tally_blocks(in.format), TallyTuning::threads, 0, stream>>>(
        in.as<const uint8_t>(), static_cast<int>(in.row_bytes()), in.channels() == 1, aligned16(in), total);
  });
  LENSD_LAUNCHED();
}

}  // namespace lensd
