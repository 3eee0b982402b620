#include "kernels/align_channels/align_channels.hpp"
#include "kernels/common/bytes16.cuh"
#include "kernels/common/pixel_words.cuh"
#include "kernels/common/warp.cuh"

namespace lensd {
namespace {

struct AlignTuning {
  static constexpr int threads = 256, warps = threads / 32;
  static constexpr int score_rows =
      32;  ///< rows per block; few enough that a lane's 32-bit sums cannot overflow
  static constexpr int shift_rows =
      16;  ///< rows per block; more than one, because every block repeats the decision
};

__device__ uint8_t* plane_row(uint8_t* planes, const AlignLevel& level, int channel, int y) {
  return planes + static_cast<size_t>(channel) * level.plane_bytes() + static_cast<size_t>(y) * level.pitch;
}
/// Returns a row of a plane with 16-bit samples.
__device__ uint16_t* deep_row(uint8_t* planes, const AlignLevel& level, int channel, int y) {
  return reinterpret_cast<uint16_t*>(plane_row(planes, level, channel, y));
}

/// Splits four pixels per thread into three planes and clears the padding of the planes' rows. Also clears
/// the work memory.
__global__ void split_kernel(ImageView<const uint8_t> in, AlignLevel level, uint8_t* planes, uint32_t* work,
                             int work_words) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 4, y = static_cast<int>(blockIdx.y);
  const int threads = static_cast<int>(gridDim.x * gridDim.y * blockDim.x);
  for (int i = static_cast<int>((blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x);
       i < work_words; i += threads)
    work[i] = 0;
  if (x >= level.pitch) return;
  const uint8_t* row = in.row(y);
  const uint4 v = load16(row + 4 * x, row, row + 4 * in.extent.width);
  const uint32_t red_green_low = __byte_perm(v.x, v.y, 0x5140),
                 red_green_high = __byte_perm(v.z, v.w, 0x5140);
  const uint32_t blue_low = __byte_perm(v.x, v.y, 0x0062), blue_high = __byte_perm(v.z, v.w, 0x0062);
  *reinterpret_cast<uint32_t*>(plane_row(planes, level, 0, y) + x) =
      __byte_perm(red_green_low, red_green_high, 0x5410);
  *reinterpret_cast<uint32_t*>(plane_row(planes, level, 1, y) + x) =
      __byte_perm(red_green_low, red_green_high, 0x7632);
  *reinterpret_cast<uint32_t*>(plane_row(planes, level, 2, y) + x) = __byte_perm(blue_low, blue_high, 0x5410);
}

/// Variant of split_kernel() for 16-bit samples, two pixels per thread.
__global__ void split_deep_kernel(ImageView<const uint16_t> in, AlignLevel level, uint8_t* planes,
                                  uint32_t* work, int work_words) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 2, y = static_cast<int>(blockIdx.y);
  const int threads = static_cast<int>(gridDim.x * gridDim.y * blockDim.x);
  for (int i = static_cast<int>((blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x);
       i < work_words; i += threads)
    work[i] = 0;
  if (2 * x >= level.pitch) return;
  const uint8_t* row = reinterpret_cast<const uint8_t*>(in.row(y));
  const uint4 v = load16(row + 8 * x, row, row + 8 * in.extent.width);
  const auto put = [&](int channel, uint32_t samples) {
    *reinterpret_cast<uint32_t*>(deep_row(planes, level, channel, y) + x) = samples;
  };
  put(0, __byte_perm(v.x, v.z, 0x5410)), put(1, __byte_perm(v.x, v.z, 0x7632));
  put(2, __byte_perm(v.y, v.w, 0x5410));
}

__device__ uint32_t pair_sums(uint32_t v) {
  return (v & 0x00ff00ffu) + ((v >> 8) & 0x00ff00ffu);
}

/// Computes four 2×2 means per thread. Writes the padding too, since whole words are read later.
__global__ void shrink_kernel(AlignLevel large, uint8_t* from, AlignLevel small, uint8_t* to) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 4;
  const int y = static_cast<int>(blockIdx.y), channel = static_cast<int>(blockIdx.z);
  if (x >= small.pitch) return;
  uint32_t word = 0;
  if (x < small.extent.width) {
    const uint2 a = *reinterpret_cast<const uint2*>(plane_row(from, large, channel, 2 * y) + 2 * x);
    const uint2 b = *reinterpret_cast<const uint2*>(plane_row(from, large, channel, 2 * y + 1) + 2 * x);
    const uint32_t low = (pair_sums(a.x) + pair_sums(b.x) + 0x00020002u) >> 2;
    const uint32_t high = (pair_sums(a.y) + pair_sums(b.y) + 0x00020002u) >> 2;
    word = __byte_perm(low, high, 0x6420);
  }
  *reinterpret_cast<uint32_t*>(plane_row(to, small, channel, y) + x) = word;
}

/// Computes one 2×2 mean of 16-bit samples per thread.
__global__ void shrink_deep_kernel(AlignLevel large, uint8_t* from, AlignLevel small, uint8_t* to) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y), channel = static_cast<int>(blockIdx.z);
  if (x >= small.extent.width) return;
  const uint16_t *a = deep_row(from, large, channel, 2 * y) + 2 * x,
                 *b = deep_row(from, large, channel, 2 * y + 1) + 2 * x;
  deep_row(to, small, channel, y)[x] =
      static_cast<uint16_t>((static_cast<uint32_t>(a[0]) + a[1] + b[0] + b[1] + 2) >> 2);
}

/// Returns the shift that align_decide() returns, computed by one warp. Ties: the prediction wins, then the
/// first candidate.
__device__ AlignShift decide(const AlignGeometry& g, const AlignWork& work, int l, int channel, int lane) {
  const AlignLevel& level = g.level[l];
  const AlignShift prediction =
      l == g.levels - 1 ? AlignShift{} : level.prediction(work.shift[l + 1][channel]);
  const AlignSums* sums = work.sums(l, channel, g);
  const int centre = level.candidates() / 2;
  double best = -4;
  int best_rank = level.candidates();  // the centre, which is the prediction, has rank −1
  for (int i = lane; i < level.candidates(); i += 32) {
    if (i != centre && !level.allowed(level.candidate(prediction, i))) continue;
    const double score = align_score(g, work, l, sums[i]);
    const int rank = i == centre ? -1 : i;
    if (score > best || (score == best && rank < best_rank)) best = score, best_rank = rank;
  }
  for (int step = 16; step > 0; step /= 2) {
    const double score = __shfl_xor_sync(0xffffffffu, best, step);
    const int rank = __shfl_xor_sync(0xffffffffu, best_rank, step);
    if (score > best || (score == best && rank < best_rank)) best = score, best_rank = rank;
  }
  return level.candidate(prediction, best_rank < 0 ? centre : best_rank);
}

/// Writes the shifts of level `l` for red and blue to `shared`. The block's first two warps compute them.
/// Call from all threads of the block.
__device__ void decide_both(const AlignGeometry& g, const AlignWork& work, int l, AlignShift* shared) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  if (warp < 2) {
    const AlignShift shift = decide(g, work, l, warp, lane);
    if (lane == 0) shared[warp] = shift;
  }
  __syncthreads();
}

/// Returns the four samples at `offset` of a row that is aligned to 4 bytes.
__device__ uint32_t word_at(const uint8_t* row, int offset) {
  const uint32_t* words = reinterpret_cast<const uint32_t*>(row) + offset / 4;
  return __funnelshift_r(words[0], words[1], static_cast<unsigned>(offset % 4) * 8);
}

__device__ void add_to(int64_t& sum, int64_t value) {
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(value));
}

/// Sums of a thread's samples. 32 bits are enough for all sums of 8-bit samples, and for the sums of values
/// of 16-bit ones.
template <class Sample>
struct ThreadSums;

template <>
struct ThreadSums<uint8_t> {
  uint32_t value = 0, square = 0, product = 0, green_value = 0, green_square = 0;

  /// Adds the row's samples of lane `lane`: `n` samples from `green_offset` and from `offset` on.
  __device__ void add_row(const uint8_t* green_row, int green_offset, const uint8_t* row, int offset, int n,
                          int lane, bool also_green) {
    for (int x = lane * 4; x < n; x += 128) {
      const uint32_t mask = n - x >= 4 ? 0xffffffffu : (1u << (8 * (n - x))) - 1;
      const uint32_t green = word_at(green_row, green_offset + x) & mask, c = word_at(row, offset + x) & mask;
      value = __dp4a(c, 0x01010101u, value);
      square = __dp4a(c, c, square);
      product = __dp4a(green, c, product);
      if (also_green) {
        green_value = __dp4a(green, 0x01010101u, green_value);
        green_square = __dp4a(green, green, green_square);
      }
    }
  }
};

template <>
struct ThreadSums<uint16_t> {
  int value = 0, green_value = 0;
  int64_t square = 0, product = 0, green_square = 0;

  __device__ void add_row(const uint8_t* green_row, int green_offset, const uint8_t* row, int offset, int n,
                          int lane, bool also_green) {
    const uint16_t* greens = reinterpret_cast<const uint16_t*>(green_row) + green_offset;
    const uint16_t* samples = reinterpret_cast<const uint16_t*>(row) + offset;
    for (int x = lane; x < n; x += 32) {
      const int green = greens[x] - kAlignMiddle, c = samples[x] - kAlignMiddle;
      value += c;
      square += static_cast<int64_t>(c) * c;
      product += static_cast<int64_t>(green) * c;
      if (also_green) green_value += green, green_square += static_cast<int64_t>(green) * green;
    }
  }
};

/// Adds the sums of one candidate over score_rows rows of the window. blockIdx.x selects the rows; blockIdx.z
/// selects the channel and the candidate. Blocks with blockIdx.z = 0 also add green's sums. The candidates
/// derive from the shifts of level l + 1, so these are decided first if there is such a level.
template <class Sample>
__global__ void __launch_bounds__(AlignTuning::threads, 4)
    score_kernel(AlignGeometry g, int l, uint8_t* planes, AlignWork* work) {
  __shared__ AlignShift decided[2];
  const AlignLevel& level = g.level[l];
  if (l + 1 < g.levels) decide_both(g, *work, l + 1, decided);
  const int channel = static_cast<int>(blockIdx.z) / level.candidates();
  const int index = static_cast<int>(blockIdx.z) % level.candidates();
  AlignShift prediction{};
  if (l + 1 < g.levels) {
    prediction = level.prediction(decided[channel]);
    if (blockIdx.x == 0 && index == 0 && threadIdx.x == 0) work->shift[l + 1][channel] = decided[channel];
  }
  const AlignShift shift = level.candidate(prediction, index);
  const bool allowed = level.allowed(shift), also_green = blockIdx.z == 0;
  if (!allowed && !also_green) return;

  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int begin = level.margin_y + static_cast<int>(blockIdx.x) * AlignTuning::score_rows;
  const int end = min(begin + AlignTuning::score_rows, level.extent.height - level.margin_y);
  const int n = level.extent.width - 2 * level.margin_x;
  ThreadSums<Sample> own;
  for (int y = begin + warp; y < end; y += AlignTuning::warps) {
    const uint8_t* green_row = plane_row(planes, level, 1, y);
    const uint8_t* row = allowed ? plane_row(planes, level, 2 * channel, y + shift.y) : green_row;
    own.add_row(green_row, level.margin_x, row, level.margin_x + (allowed ? shift.x : 0), n, lane,
                also_green);
  }
  if (also_green)
    add_to(work->green[l].value, own.green_value), add_to(work->green[l].square, own.green_square);
  if (!allowed) return;
  AlignSums& sums = work->sums(l, channel, g)[index];
  add_to(sums.value, own.value), add_to(sums.square, own.square), add_to(sums.product, own.product);
}

__global__ void shift_kernel(AlignGeometry g, const AlignWork* work, PixelWordsIn in, PixelWordsOut out,
                             AlignStats* stats) {
  __shared__ AlignShift shift[2];
  decide_both(g, *work, 0, shift);
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x < 2) stats->shift[threadIdx.x] = shift[threadIdx.x];
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const Extent extent = g.level[0].extent;
  if (x >= extent.width) return;
  const int begin = static_cast<int>(blockIdx.y) * AlignTuning::shift_rows;
  const int end = min(begin + AlignTuning::shift_rows, extent.height);
  const auto moved = [&](int c, int y) {
    return in.at(min(max(x + shift[c].x, 0), extent.width - 1),
                 min(max(y + shift[c].y, 0), extent.height - 1));
  };
  for (int y = begin; y < end; ++y)
    out.set(x, y, (moved(0, y) & 0x000000ffu) | (in.at(x, y) & 0xff00ff00u) | (moved(1, y) & 0x00ff0000u));
}

__global__ void shift_deep_kernel(AlignGeometry g, const AlignWork* work, ImageView<const uint16_t> in,
                                  ImageView<uint16_t> out, AlignStats* stats) {
  __shared__ AlignShift shift[2];
  decide_both(g, *work, 0, shift);
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x < 2) stats->shift[threadIdx.x] = shift[threadIdx.x];
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const Extent extent = g.level[0].extent;
  if (x >= extent.width) return;
  const int begin = static_cast<int>(blockIdx.y) * AlignTuning::shift_rows;
  const int end = min(begin + AlignTuning::shift_rows, extent.height);
  const auto moved = [&](int c, int y) {
    return in.row(min(max(y + shift[c].y, 0), extent.height - 1)) +
           4 * min(max(x + shift[c].x, 0), extent.width - 1);
  };
  for (int y = begin; y < end; ++y) {
    const uint16_t* from = in.row(y) + 4 * x;
    uint16_t* to = out.row(y) + 4 * x;
    to[0] = moved(0, y)[0], to[1] = from[1], to[2] = moved(1, y)[2], to[3] = from[3];
  }
}

/// Returns a grid with one thread for every four bytes of a level's rows, padding included.
dim3 level_grid(const AlignLevel& level, unsigned planes) {
  return dim3(blocks_for(level.pitch, AlignTuning::threads * 4), static_cast<unsigned>(level.extent.height),
              planes);
}
/// Returns a grid with one thread for every 16-bit sample, without padding.
dim3 deep_level_grid(const AlignLevel& level, unsigned planes) {
  return dim3(blocks_for(level.extent.width, AlignTuning::threads),
              static_cast<unsigned>(level.extent.height), planes);
}

}  // namespace

void AlignChannels::launch_split(const PassArgs& args, CudaStream stream) const {
  const AlignLevel& level = geometry_.level[0];
  if (args.in[0].is_deep()) {
    split_deep_kernel<<<level_grid(level, 1), AlignTuning::threads, 0, stream>>>(
        args.in[0].as<const uint16_t>(), level, plane(args, 0, 0),
        reinterpret_cast<uint32_t*>(args.scratch[1]),
        static_cast<int>(AlignWork::bytes(geometry_) / sizeof(uint32_t)));
    LENSD_LAUNCHED();
    return;
  }
  split_kernel<<<level_grid(level, 1), AlignTuning::threads, 0, stream>>>(
      args.in[0].as<const uint8_t>(), level, plane(args, 0, 0), reinterpret_cast<uint32_t*>(args.scratch[1]),
      static_cast<int>(AlignWork::bytes(geometry_) / sizeof(uint32_t)));
  LENSD_LAUNCHED();
}

void AlignChannels::launch_shrink(const PassArgs& args, CudaStream stream) const {
  const int l = args.step;
  const AlignLevel& level = geometry_.level[l];
  const auto kernel = geometry_.deep ? &shrink_deep_kernel : &shrink_kernel;
  const dim3 grid = geometry_.deep ? deep_level_grid(level, 3) : level_grid(level, 3);
  kernel<<<grid, AlignTuning::threads, 0, stream>>>(geometry_.level[l - 1], plane(args, l - 1, 0), level,
                                                    plane(args, l, 0));
  LENSD_LAUNCHED();
}

void AlignChannels::launch_score(const PassArgs& args, CudaStream stream) const {
  const AlignLevel& level = geometry_.level[args.step];
  const dim3 grid(blocks_for(level.extent.height - 2 * level.margin_y, AlignTuning::score_rows), 1,
                  static_cast<unsigned>(2 * level.candidates()));
  const auto kernel = geometry_.deep ? &score_kernel<uint16_t> : &score_kernel<uint8_t>;
  kernel<<<grid, AlignTuning::threads, 0, stream>>>(geometry_, args.step, plane(args, args.step, 0),
                                                    &work_of(args));
  LENSD_LAUNCHED();
}

void AlignChannels::launch_shift(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const dim3 grid(blocks_for(in.width(), AlignTuning::threads),
                  blocks_for(in.height(), AlignTuning::shift_rows));
  if (in.is_deep()) {
    shift_deep_kernel<<<grid, AlignTuning::threads, 0, stream>>>(
        geometry_, &work_of(args), in.as<const uint16_t>(), args.out.as<uint16_t>(),
        static_cast<AlignStats*>(args.stats));
    LENSD_LAUNCHED();
    return;
  }
  shift_kernel<<<grid, AlignTuning::threads, 0, stream>>>(geometry_, &work_of(args), PixelWordsIn(in),
                                                          PixelWordsOut(args.out),
                                                          static_cast<AlignStats*>(args.stats));
  LENSD_LAUNCHED();
}

}  // namespace lensd
