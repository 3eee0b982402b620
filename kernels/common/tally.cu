#include "kernels/common/chunk.cuh"
#include "kernels/common/tally.hpp"

namespace lensd {
namespace {

/// Few large blocks, because each block adds its tables to the total at the end. Copies of a table are
/// interleaved, so that lanes with the same value use different banks. Chosen for 132 multiprocessors, not
/// measured.
struct TallyTuning {
  static constexpr int threads = 512;
  static constexpr int max_blocks = 264;
  static constexpr int copies = 8;
};

unsigned tally_blocks(const ImageFormat& format) {
  const int64_t chunks =
      static_cast<int64_t>(blocks_for(static_cast<int>(format.row_bytes()), ChunkShape::bytes)) *
      format.extent.height;
  const int64_t blocks = (chunks + TallyTuning::threads - 1) / TallyTuning::threads;
  return static_cast<unsigned>(blocks < TallyTuning::max_blocks ? blocks : TallyTuning::max_blocks);
}

__global__ void __launch_bounds__(TallyTuning::threads)
    histogram_kernel(ImageView<const uint8_t> in, int row_bytes, int channels, bool aligned,
                     Histogram* total) {
  extern __shared__ uint32_t tables[];  // [channel][value][copy]
  constexpr int copies = TallyTuning::copies;
  const int thread = static_cast<int>(threadIdx.x), copy = thread % copies;
  for (int i = thread; i < channels * 256 * copies; i += TallyTuning::threads) tables[i] = 0;
  __syncthreads();

  for (ChunkWalk walk(row_bytes); walk.y < in.extent.height; walk.next()) {
    const int left = row_bytes - walk.x * ChunkShape::bytes;
    const Chunk chunk = load_chunk(in.row(walk.y) + walk.x * ChunkShape::bytes, left, aligned);
#pragma unroll
    for (int i = 0; i < ChunkShape::bytes; ++i) {
      const int c = channels == 1 ? 0 : i % 4;
      if (c == 3 || i >= left) continue;
      const int value = static_cast<int>(chunk.word[i / 4] >> (i % 4 * 8) & 255);
      atomicAdd(&tables[(c * 256 + value) * copies + copy], 1u);
    }
  }
  __syncthreads();

  for (int i = thread; i < channels * 256; i += TallyTuning::threads) {
    uint32_t count = 0;
    for (int k = 0; k < copies; ++k) count += tables[i * copies + (k + i) % copies];
    if (count != 0) atomicAdd(&total->count[i / 256][i % 256], count);
  }
}

__global__ void __launch_bounds__(TallyTuning::threads)
    sums_kernel(ImageView<const uint8_t> in, int row_bytes, bool gray, bool aligned, ChannelSums* total) {
  __shared__ unsigned long long block_sums[3];
  if (threadIdx.x < 3) block_sums[threadIdx.x] = 0;
  __syncthreads();

  // A warp adds about 2^28 / 4224 pixels at most, so its sums fit 32 bits.
  uint32_t r = 0, g = 0, b = 0;
  for (ChunkWalk walk(row_bytes); walk.y < in.extent.height; walk.next()) {
    const int left = row_bytes - walk.x * ChunkShape::bytes;
    const Chunk chunk = load_chunk(in.row(walk.y) + walk.x * ChunkShape::bytes, left, aligned);
#pragma unroll
    for (const uint32_t w : chunk.word) {
      if (gray)
        r += (w & 255) + (w >> 8 & 255) + (w >> 16 & 255) + (w >> 24);
      else
        r += w & 255, g += w >> 8 & 255, b += w >> 16 & 255;
    }
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    r += __shfl_down_sync(0xffffffffu, r, distance);
    g += __shfl_down_sync(0xffffffffu, g, distance);
    b += __shfl_down_sync(0xffffffffu, b, distance);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&block_sums[0], static_cast<unsigned long long>(r));
    atomicAdd(&block_sums[1], static_cast<unsigned long long>(g));
    atomicAdd(&block_sums[2], static_cast<unsigned long long>(b));
  }
  __syncthreads();
  if (threadIdx.x < 3)
    atomicAdd(reinterpret_cast<unsigned long long*>(&total->sum[threadIdx.x]), block_sums[threadIdx.x]);
}

/// Counts the high bytes of 16-bit samples, and sums the samples. `step`: samples per pixel.
__global__ void __launch_bounds__(TallyTuning::threads)
    deep_histogram_kernel(ImageView<const uint16_t> in, int step, Histogram* total) {
  extern __shared__ uint32_t tables[];  // [channel][value]
  const int channels = step == 1 ? 1 : 3, samples = in.extent.width * step;
  for (int i = static_cast<int>(threadIdx.x); i < channels * 256; i += TallyTuning::threads) tables[i] = 0;
  __syncthreads();
  for (int y = static_cast<int>(blockIdx.x); y < in.extent.height; y += static_cast<int>(gridDim.x))
    for (int i = static_cast<int>(threadIdx.x); i < samples; i += TallyTuning::threads)
      if (const int c = i % step; c < channels) atomicAdd(&tables[c * 256 + (in.row(y)[i] >> 8)], 1u);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < channels * 256; i += TallyTuning::threads)
    if (tables[i] != 0) atomicAdd(&total->count[i / 256][i % 256], tables[i]);
}

__global__ void __launch_bounds__(TallyTuning::threads)
    deep_sums_kernel(ImageView<const uint16_t> in, int step, ChannelSums* total) {
  __shared__ unsigned long long block_sums[3];
  if (threadIdx.x < 3) block_sums[threadIdx.x] = 0;
  __syncthreads();
  // The number of threads is a multiple of `step`, so that a thread meets one channel only.
  const int c = static_cast<int>(threadIdx.x) % step, samples = in.extent.width * step;
  unsigned long long sum = 0;
  for (int y = static_cast<int>(blockIdx.x); y < in.extent.height; y += static_cast<int>(gridDim.x))
    for (int i = static_cast<int>(threadIdx.x); i < samples; i += TallyTuning::threads) sum += in.row(y)[i];
  if (c < 3 && sum != 0) atomicAdd(&block_sums[c], sum);
  __syncthreads();
  if (threadIdx.x < 3 && block_sums[threadIdx.x] != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&total->sum[threadIdx.x]), block_sums[threadIdx.x]);
}

unsigned deep_blocks(const ImageFormat& format) {
  return static_cast<unsigned>(format.extent.height < 1024 ? format.extent.height : 1024);
}

}  // namespace

void launch_tally(const ConstImageRef& in, Histogram* total, CudaStream stream) {
  if (in.is_deep()) {
    const size_t bytes = static_cast<size_t>(colour_channels(in.format.format)) * 256 * sizeof(uint32_t);
    deep_histogram_kernel<<<deep_blocks(in.format), TallyTuning::threads, bytes, stream>>>(
        in.as<const uint16_t>(), in.channels(), total);
    LENSD_LAUNCHED();
    return;
  }
  const int channels = colour_channels(in.format.format);
  const size_t shared = static_cast<size_t>(channels) * 256 * TallyTuning::copies * sizeof(uint32_t);
  histogram_kernel<<<tally_blocks(in.format), TallyTuning::threads, shared, stream>>>(
      in.as<const uint8_t>(), static_cast<int>(in.row_bytes()), channels, aligned16(in), total);
  LENSD_LAUNCHED();
}

void launch_tally(const ConstImageRef& in, ChannelSums* total, CudaStream stream) {
  if (in.is_deep()) {
    deep_sums_kernel<<<deep_blocks(in.format), TallyTuning::threads, 0, stream>>>(in.as<const uint16_t>(),
                                                                                  in.channels(), total);
    LENSD_LAUNCHED();
    return;
  }
  sums_kernel<<<tally_blocks(in.format), TallyTuning::threads, 0, stream>>>(
      in.as<const uint8_t>(), static_cast<int>(in.row_bytes()), in.format.format == PixelFormat::gray8,
      aligned16(in), total);
  LENSD_LAUNCHED();
}

}  // namespace lensd
