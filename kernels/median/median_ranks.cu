// median of 16-bit images with radius 4 and more on CUDA: the method of median_ranks.cpp with a thread block
// per tile and channel. The block sorts the samples under the tile. Then each warp moves a window over a
// strip of rows, along the first row, back along the second one, and so on.
#include "kernels/common/border/border.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/median/median.hpp"

namespace lensd {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kSide = 90;                 ///< rows and columns under a tile
constexpr int kSamples = kSide * kSide;   ///< samples under a tile
constexpr int kItems = 32;                ///< keys that a thread sorts
constexpr int kKeys = kItems * kThreads;  ///< number of keys; keys beyond kSamples are all ones
constexpr int kDigits = 16;               ///< number of values of a four-bit digit
constexpr int kSetWords = kKeys / 32;     ///< words of a set of ranks: eight for each lane
static_assert(kSamples <= kKeys && kSetWords == 8 * 32);

constexpr int tile_side(int radius) {
  return kSide - 2 * radius;
}

struct MedianRanksJob {
  ImageView<const uint16_t> in;
  ImageView<uint16_t> out;
  const MedianBlock* block;
  int radius, channels;
};

struct RankShared {
  /// Keys are sample · 2^16 + position. A thread has kItems successive keys; one unused word after them
  /// avoids bank conflicts.
  union {
    uint32_t keys[kThreads * (kItems + 1)];
    struct {
      uint16_t values[kKeys];  ///< samples by rank
      uint16_t ranks[kKeys];   ///< ranks by position in the tile
    };
  };
  union {
    alignas(16) uint16_t counts[kDigits * kThreads];  ///< number of keys by digit and thread
    alignas(16) uint32_t windows[kWarps][kSetWords];  ///< ranks in each warp's window
  };
  uint16_t medians[kWarps][tile_side(kMedianMergeRadius)];  ///< a row of each warp's results
};

__device__ uint32_t& key_at(RankShared& shared, int i) {
  return shared.keys[i + i / kItems];
}

/// Loads the samples of the block's channel under the tile.
__device__ void load_keys(const MedianRanksJob& job, int x0, int y0, int channel, RankShared& shared) {
  const Border border = job.block->border;
  const Extent extent = job.in.extent;
  for (int i = static_cast<int>(threadIdx.x); i < kKeys; i += kThreads) {
    uint32_t key = ~0u;
    if (i < kSamples) {
      const int row = i / kSide, x = border_index(x0 + i - row * kSide, extent.width, border),
                y = border_index(y0 + row, extent.height, border);
      const uint32_t sample = x < 0 || y < 0 ? 0 : job.in.row(y)[x * job.channels + channel];
      key = sample << 16 | static_cast<uint32_t>(i);
    }
    key_at(shared, i) = key;
  }
}

/// Numbers of a thread's keys by digit: bytes of `low` for digits 0 to 7, bytes of `high` for digits 8 to 15.
struct DigitCounts {
  uint64_t low = 0, high = 0;

  /// Counts a key with this digit. Returns the number of such keys counted before.
  __device__ uint32_t add(uint32_t digit) {
    const uint32_t shift = digit % 8 * 8;
    const auto before = static_cast<uint32_t>((digit < 8 ? low : high) >> shift) & 255;
    const uint64_t one = uint64_t{1} << shift;
    if (digit < 8)
      low += one;
    else
      high += one;
    return before;
  }
  __device__ uint32_t of(int digit) const {
    return static_cast<uint32_t>((digit < 8 ? low : high) >> (digit % 8 * 8)) & 255;
  }
};

/// Replaces shared.counts with their exclusive prefix sums. Call from all threads.
__device__ void add_up_counts(RankShared& shared) {
  uint16_t* const own = shared.counts + kDigits * static_cast<int>(threadIdx.x);
  uint32_t counts[kDigits], total = 0;
#pragma unroll
  for (int i = 0; i < kDigits; ++i) counts[i] = own[i], total += counts[i];
  uint32_t sum = block_inclusive_sum<kThreads>(total) - total;
#pragma unroll
  for (int i = 0; i < kDigits; ++i) {
    own[i] = static_cast<uint16_t>(sum);
    sum += counts[i];
  }
}

/// Sorts the keys by their samples, digit by digit, and fills `values` and `ranks`. Call from all threads.
__device__ void rank_keys(RankShared& shared) {
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll 1
  for (int shift = 16; shift < 32; shift += 4) {
    uint32_t keys[kItems];
    DigitCounts counts;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      keys[i] = shared.keys[thread * (kItems + 1) + i];
      counts.add(keys[i] >> shift & (kDigits - 1));
    }
#pragma unroll
    for (int digit = 0; digit < kDigits; ++digit)
      shared.counts[digit * kThreads + thread] = static_cast<uint16_t>(counts.of(digit));
    __syncthreads();
    add_up_counts(shared);
    __syncthreads();
    counts = {};
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const uint32_t digit = keys[i] >> shift & (kDigits - 1);
      const uint32_t rank =
          shared.counts[digit * kThreads + static_cast<uint32_t>(thread)] + counts.add(digit);
      if (shift + 4 < 32) {
        key_at(shared, static_cast<int>(rank)) = keys[i];
      } else if (rank < kSamples) {  // keys of all ones come last
        shared.values[rank] = static_cast<uint16_t>(keys[i] >> 16);
        shared.ranks[keys[i] & 65535] = static_cast<uint16_t>(rank);
      }
    }
    __syncthreads();
  }
}

/// A warp's set of ranks. Lane i counts ranks 256 · i to 256 · i + 255, in two vectors of four words.
class RankWindow {
 public:
  __device__ RankWindow(uint32_t* words, int radius)
      : words_(words), lane_(static_cast<int>(threadIdx.x) % 32), side_(2 * radius + 1) {
    for (int i = lane_; i < kSetWords; i += 32) words_[i] = 0;
    __syncwarp();
  }

  /// Inverts the set's bit of each rank in a window. `from`: the window's first rank.
  __device__ void insert(const uint16_t* from) {
    for (int i = lane_; i < side_ * side_; i += 32) invert(from[i / side_ * kSide + i % side_]);
    __syncwarp();
  }
  /// Inverts the bits of the ranks in two rows or two columns. Successive ranks are `step` apart.
  __device__ void replace(const uint16_t* leaving, const uint16_t* entering, int step) {
    for (int i = lane_; i < side_; i += 32) invert(leaving[i * step]), invert(entering[i * step]);
    __syncwarp();
  }
  /// Calls write(rank) with the median's rank in one lane.
  template <class Write>
  __device__ void median(const Write& write) const {
    const uint4 a = reinterpret_cast<const uint4*>(words_)[lane_],
                b = reinterpret_cast<const uint4*>(words_)[32 + lane_];
    const uint32_t words[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    int total = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) total += __popc(words[i]);
    // If the median is one of this lane's ranks, `rest` of them are below it.
    const int rest = side_ * side_ / 2 - (warp_inclusive_sum(total) - total);
    if (rest >= 0 && rest < total) write(256 * lane_ + find(words, rest));
    __syncwarp();
  }

 private:
  __device__ void invert(uint32_t rank) {
    const uint32_t lane = rank / 256, word = rank / 32 % 8;
    atomicXor(&words_[(word / 4 * 32 + lane) * 4 + word % 4], 1u << (rank % 32));
  }
  /// Returns the position of the set bit that has `rest` set bits before it.
  __device__ static int find(const uint32_t (&words)[8], int rest) {
    uint32_t word = words[0];
    int at = 0, before = 0, sum = 0;
#pragma unroll
    for (int i = 1; i < 8; ++i) {
      sum += __popc(words[i - 1]);
      if (sum <= rest) word = words[i], at = 32 * i, before = sum;
    }
    rest -= before;
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
      const int low = __popc(word & ((1u << half) - 1));
      if (rest >= low) rest -= low, word >>= half, at += half;
    }
    return at;
  }

  uint32_t* words_;
  int lane_, side_;
};

__global__ void __launch_bounds__(kThreads) median_ranks_kernel(MedianRanksJob job) {
  __shared__ RankShared shared;
  const int radius = job.radius, side = 2 * radius + 1, tile = tile_side(radius);
  const int x0 = static_cast<int>(blockIdx.x) * tile, y0 = static_cast<int>(blockIdx.y) * tile;
  const int channel = static_cast<int>(blockIdx.z), channels = job.channels;
  load_keys(job, x0 - radius, y0 - radius, channel, shared);
  __syncthreads();
  rank_keys(shared);

  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int width = min(tile, job.out.extent.width - x0), height = min(tile, job.out.extent.height - y0);
  const int rows = (height + kWarps - 1) / kWarps, begin = warp * rows, end = min(height, begin + rows);
  if (begin >= end) return;
  RankWindow window(shared.windows[warp], radius);
  window.insert(shared.ranks + begin * kSide);
  uint16_t* const medians = shared.medians[warp];
  for (int y = begin; y < end; ++y) {
    const bool right = (y - begin) % 2 == 0;
    const uint16_t* const row = shared.ranks + y * kSide;
    if (y > begin) {
      const uint16_t* const first = row + (right ? 0 : width - 1);
      window.replace(first - kSide, first + (side - 1) * kSide, 1);
    }
    for (int i = 0; i < width; ++i) {
      const int x = right ? i : width - 1 - i;
      if (i > 0 && right) window.replace(row + x - 1, row + x + side - 1, kSide);
      if (i > 0 && !right) window.replace(row + x + side, row + x, kSide);
      window.median([&](int rank) { medians[x] = shared.values[rank]; });
    }
    uint16_t* const to = job.out.row(y0 + y) + x0 * channels;
    const uint16_t* const from = job.in.row(y0 + y) + x0 * channels;
    for (int x = lane; x < width; x += 32) {
      to[x * channels + channel] = medians[x];
      if (channels == 4 && channel == 0) to[4 * x + 3] = from[4 * x + 3];
    }
    __syncwarp();
  }
}

}  // namespace

void Median::launch_ranks(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const MedianRanksJob job{in.as<const uint16_t>(), args.out.as<uint16_t>(),
                           static_cast<const MedianBlock*>(args.block), radius_, in.channels()};
  const int tile = tile_side(radius_);
  const dim3 grid(blocks_for(in.width(), tile), blocks_for(in.height(), tile), in.channels() == 4 ? 3 : 1);
  median_ranks_kernel<<<grid, kThreads, 0, stream>>>(job);
  LENSD_LAUNCHED();
}

}  // namespace lensd
