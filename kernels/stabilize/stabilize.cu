#include "kernels/common/pixel_words.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/stabilize/stabilize.hpp"

namespace lensd {
namespace {

struct StabilizeTuning {
  static constexpr int pair_threads = 1024, vote_threads = 128, motion_threads = 512;
  static constexpr int warp_columns = 32, warp_rows = 8;
};

/// Computes the pairs and their weights with one block. Pairs are ordered by the track's slot, as on the CPU,
/// since hypotheses select pairs by index.
__global__ void pairs_kernel(const TrackTable* table, Extent extent, StabilizeWork* work) {
  constexpr int warps = StabilizeTuning::pair_threads / 32;
  __shared__ uint32_t in_warp[warps];
  const PairGrid grid = PairGrid::make(extent, table->picture);
  const uint32_t slots = min(table->capacity, static_cast<uint32_t>(kMaxTracks));
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  uint32_t count = 0;
  for (uint32_t first = 0; first < slots; first += blockDim.x) {
    const uint32_t slot = first + threadIdx.x;
    const bool takes = slot < slots && table->tracks()[slot].status == TrackStatus::tracked;
    const uint32_t ballot = __ballot_sync(0xffffffffu, takes);
    if (lane == 0) in_warp[warp] = static_cast<uint32_t>(__popc(ballot));
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (int w = 0; w < warps; ++w) {
      before += w < warp ? in_warp[w] : 0;
      all += in_warp[w];
    }
    const uint32_t at = count + before + static_cast<uint32_t>(__popc(ballot & ((1u << lane) - 1)));
    if (takes) add_pair(grid, table->tracks()[slot], *work, at);
    count += all;
    __syncthreads();
  }
  // Count the pairs of each cell; then give each pair its part of the cell's weight.
  __shared__ uint32_t in_cell[kCells];
  for (uint32_t i = threadIdx.x; i < kCells; i += blockDim.x) in_cell[i] = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) atomicAdd(&in_cell[grid.cell(*work, i)], 1u);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
    work->weight[i] = pair_weight(in_cell[grid.cell(*work, i)]);
  if (threadIdx.x == 0) work->count = count;
}

/// Computes the votes with one block per hypothesis.
__global__ void votes_kernel(const StabilizeBlock* block, StabilizeWork* work) {
  __shared__ InlierTest test;
  __shared__ uint32_t votes;
  __shared__ bool stands;
  const uint32_t h = blockIdx.x;
  if (threadIdx.x == 0) {
    Motion motion;
    votes = 0;
    stands = work->count >= pairs_needed(block->model) && hypothesis(block->model, *work, h, motion);
    if (stands) test = InlierTest::make(motion, block->threshold2);
  }
  __syncthreads();
  InlierWeights sum;
  if (stands)
    for (uint32_t i = threadIdx.x; i < work->count; i += blockDim.x) sum.add(test, *work, i);
  const uint32_t mine = warp_sum(sum.votes(h));
  if (threadIdx.x % 32 == 0 && mine != 0) atomicAdd(&votes, mine);
  __syncthreads();
  if (threadIdx.x == 0) work->votes[h] = votes;
}

/// Sums the pairs that pass the inlier test. Call from all threads of the block. `sums` must be in shared
/// memory. `weighs`: use the pairs' weights instead of 1.
__device__ void sum_inliers(const StabilizeWork& work, const InlierTest& test, bool weighs, PairSums& sums) {
  if (threadIdx.x < PairSums::sums) sums.of[threadIdx.x] = 0;
  __syncthreads();
  PairSums mine{};
  for (uint32_t i = threadIdx.x; i < work.count; i += blockDim.x)
    if (test.is_inlier(work, i)) mine.add(work, i, weighs);
#pragma unroll
  for (int s = 0; s < PairSums::sums; ++s) {
    const int64_t v = warp_sum(mine.of[s]);
    if (threadIdx.x % 32 == 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(&sums.of[s]), static_cast<unsigned long long>(v));
  }
  __syncthreads();
}

/// Computes the motion with one block: all threads sum; the first one solves for the motion and updates the
/// path.
__global__ void __launch_bounds__(StabilizeTuning::motion_threads)
    motion_kernel(const StabilizeBlock* params, const StabilizeWork* work, Extent extent,
                  StatePair<StabilizeState> states, StabilizeStats* stats) {
  __shared__ StabilizeBlock block;
  __shared__ InlierTest test;
  __shared__ PairSums sums;
  __shared__ uint32_t best;
  Motion motion;  // used only by the first thread
  if (threadIdx.x == 0) block = *params, best = 0;
  __syncthreads();
  if (threadIdx.x < kHypotheses) atomicMax(&best, vote_rank(work->votes[threadIdx.x], threadIdx.x));
  __syncthreads();
  const bool any = best >= vote_rank(1, kHypotheses - 1);
  const uint32_t start = ranked_hypothesis(best);
  if (any && threadIdx.x == 0) hypothesis(block.model, *work, start, motion);
  for (int round = 0; any && round <= kFitRounds; ++round) {
    if (threadIdx.x == 0)
      test = InlierTest::make(motion, block.threshold2 * threshold_part(round, start == 0));
    __syncthreads();
    sum_inliers(*work, test, round_is_weighted(round), sums);
    if (threadIdx.x == 0 && round < kFitRounds && sums.of[PairSums::count] >= pairs_needed(block.model))
      motion = least_squares(block.model, sums);
    __syncthreads();
  }
  __shared__ unsigned long long all_weight;
  if (threadIdx.x == 0) all_weight = 0;
  __syncthreads();
  unsigned long long mine = 0;
  for (uint32_t i = threadIdx.x; i < work->count; i += blockDim.x)
    mine += static_cast<uint32_t>(work->weight[i]);
  atomicAdd(&all_weight, mine);
  __syncthreads();
  if (threadIdx.x != 0) return;
  stats->pairs = work->count;
  stats->inliers = any ? static_cast<uint32_t>(sums.of[PairSums::count]) : 0;
  if (any) accept_motion(block.model, sums, static_cast<int64_t>(all_weight), motion);
  StabilizeState state = states.past();
  advance_path(block, states.frame->reset != 0, motion, state);
  decide_warp(block, extent, motion, state, *stats);
  *states.after() = state;
}

/// Source columns and rows of output pixel (x, y), mapped by the border rule (−1: constant border), and the
/// 8-bit weights fx, fy of x1 and y1.
struct WarpTaps {
  int x0, x1, y0, y1;
  uint32_t fx, fy;

  __device__ WarpTaps(const StabilizeWarp& warp, Border border, Extent extent, int x, int y) {
    const float dx = static_cast<float>(x) - warp.centre_x, dy = static_cast<float>(y) - warp.centre_y;
    const int sx = source_steps(warp.xx, dx, warp.xy * dy + warp.x0);
    const int sy = source_steps(warp.yx, dx, warp.yy * dy + warp.y0);
    x0 = sx >> 8, y0 = sy >> 8, x1 = x0 + 1, y1 = y0 + 1;
    fx = static_cast<uint32_t>(sx & 255), fy = static_cast<uint32_t>(sy & 255);
    if (x0 >= 0 && y0 >= 0 && x1 < extent.width && y1 < extent.height) return;
    x0 = border_index(x0, extent.width, border), x1 = border_index(x1, extent.width, border);
    y0 = border_index(y0, extent.height, border), y1 = border_index(y1, extent.height, border);
  }
};

__global__ void warp_rgba_kernel(PixelWordsIn in, PixelWordsOut out, Extent extent,
                                 const StabilizeBlock* block, const StabilizeStats* stats) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= extent.width || y >= extent.height) return;
  const WarpTaps taps(stats->warp, block->border, extent, x, y);
  const auto at = [&](int column, int row) {
    return column < 0 || row < 0 ? 0xff000000u : in.at(column, row);
  };
  const uint32_t p00 = at(taps.x0, taps.y0), p01 = at(taps.x1, taps.y0), p10 = at(taps.x0, taps.y1),
                 p11 = at(taps.x1, taps.y1);
  uint32_t pixel = 0;
#pragma unroll
  for (int c = 0; c < 32; c += 8)
    pixel |= bilinear(p00 >> c & 255, p01 >> c & 255, p10 >> c & 255, p11 >> c & 255, taps.fx, taps.fy) << c;
  out.set(x, y, pixel);
}

/// Warps four Gray8 pixels per thread and stores them as a word.
__global__ void warp_gray_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, bool aligned,
                                 const StabilizeBlock* block, const StabilizeStats* stats) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 4;
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= in.extent.width || y >= in.extent.height) return;
  const Border border = block->border;
  const StabilizeWarp warp = stats->warp;
  const auto at = [&](int column, int row) -> uint32_t {
    return column < 0 || row < 0 ? 0u : in.at(column, row);
  };
  const int count = min(4, in.extent.width - x);
  uint32_t word = 0;
  for (int i = 0; i < count; ++i) {
    const WarpTaps taps(warp, border, in.extent, x + i, y);
    word |= bilinear(at(taps.x0, taps.y0), at(taps.x1, taps.y0), at(taps.x0, taps.y1), at(taps.x1, taps.y1),
                     taps.fx, taps.fy)
            << (8 * i);
  }
  store_bytes(out.row(y) + x, word, count, aligned);
}

/// Each thread warps one pixel with 16 bits per sample.
template <int kChannels>
__global__ void warp_deep_kernel(ImageView<const uint16_t> in, ImageView<uint16_t> out,
                                 const StabilizeBlock* block, const StabilizeStats* stats) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= in.extent.width || y >= in.extent.height) return;
  const WarpTaps taps(stats->warp, block->border, in.extent, x, y);
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    const auto at = [&](int column, int row) -> uint32_t {
      if (column < 0 || row < 0) return c == 3 ? 65535u : 0u;
      return in.row(row)[column * kChannels + c];
    };
    out.row(y)[x * kChannels + c] =
        static_cast<uint16_t>(bilinear(at(taps.x0, taps.y0), at(taps.x1, taps.y0), at(taps.x0, taps.y1),
                                       at(taps.x1, taps.y1), taps.fx, taps.fy));
  }
}

StabilizeWork* work_of(const PassArgs& args) {
  return reinterpret_cast<StabilizeWork*>(args.scratch[0]);
}

}  // namespace

void Stabilize::launch_gather(const PassArgs& args, CudaStream stream) const {
  pairs_kernel<<<1, StabilizeTuning::pair_threads, 0, stream>>>(args.tracks, args.in[0].format.extent,
                                                                work_of(args));
  LENSD_LAUNCHED();
}

void Stabilize::launch_vote(const PassArgs& args, CudaStream stream) const {
  votes_kernel<<<kHypotheses, StabilizeTuning::vote_threads, 0, stream>>>(
      static_cast<const StabilizeBlock*>(args.block), work_of(args));
  LENSD_LAUNCHED();
}

void Stabilize::launch_fit(const PassArgs& args, CudaStream stream) const {
  motion_kernel<<<1, StabilizeTuning::motion_threads, 0, stream>>>(
      static_cast<const StabilizeBlock*>(args.block), work_of(args), args.in[0].format.extent,
      args.state_of<StabilizeState>(), static_cast<StabilizeStats*>(args.stats));
  LENSD_LAUNCHED();
}

void Stabilize::launch_warp(const PassArgs& args, CudaStream stream) const {
  using Tuning = StabilizeTuning;
  const ConstImageRef in = args.in[0];
  const Extent extent = in.format.extent;
  const auto* block = static_cast<const StabilizeBlock*>(args.block);
  const auto* stats = static_cast<const StabilizeStats*>(args.stats);
  const bool gray = in.channels() == 1;
  if (in.is_deep()) {
    const dim3 blocks(blocks_for(extent.width, Tuning::warp_columns),
                      blocks_for(extent.height, Tuning::warp_rows));
    const auto kernel = gray ? warp_deep_kernel<1> : warp_deep_kernel<4>;
    kernel<<<blocks, dim3(Tuning::warp_columns, Tuning::warp_rows), 0, stream>>>(
        in.as<const uint16_t>(), args.out.as<uint16_t>(), block, stats);
    LENSD_LAUNCHED();
    return;
  }
  const dim3 threads(Tuning::warp_columns, Tuning::warp_rows);
  const dim3 grid(blocks_for(gray ? (extent.width + 3) / 4 : extent.width, Tuning::warp_columns),
                  blocks_for(extent.height, Tuning::warp_rows));
  if (gray)
    warp_gray_kernel<<<grid, threads, 0, stream>>>(in.as<const uint8_t>(), args.out.as<uint8_t>(),
                                                   rows_aligned(args.out, 4), block, stats);
  else
    warp_rgba_kernel<<<grid, threads, 0, stream>>>(PixelWordsIn(in), PixelWordsOut(args.out), extent, block,
                                                   stats);
  LENSD_LAUNCHED();
}

}  // namespace lensd
