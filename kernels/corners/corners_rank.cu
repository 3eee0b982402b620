// The order of the accepted corners on CUDA.
//
// The index of a corner is the number of stronger ones. Counting them is quadratic, but faster than sorting
// for usual counts. Pictures with very many equal corners, such as a large checkerboard, have millions of
// accepted corners; then a radix select first finds the `wanted` strongest ones, digit by digit from the
// highest.
#include <cooperative_groups.h>

#include "kernels/corners/corners_launch.cuh"
#include "kernels/corners/corners_math.hpp"

namespace lensd {
namespace {

constexpr int kRankThreads = 256, kSelectThreads = 1024;
/// Up to this number of accepted corners, counting alone is not slower than the select pass: 2^28 comparisons
/// take about 50 µs on an H200.
constexpr uint32_t kRankedDirectly = 16384;

/// Copies the `wanted` strongest of the accepted corners to memory.candidates, if there are more than
/// kRankedDirectly. All blocks must be resident at the same time.
__global__ void __launch_bounds__(kSelectThreads) corner_select_kernel(CornerLaunch launch) {
  using D = CornerDigits;
  __shared__ uint32_t counts[D::buckets];
  const uint32_t wanted = launch.wanted();
  if (wanted == 0) return;
  const CornerDeviceMemory& memory = launch.memory;
  const uint32_t all = memory.counters->accepted;
  if (all <= max(wanted, kRankedDirectly)) return;
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const uint32_t first = blockIdx.x * kSelectThreads + threadIdx.x, stride = gridDim.x * kSelectThreads;
  uint64_t prefix = 0;        // digits of the weakest selected key, as far as known
  uint32_t missing = wanted;  // number of selected keys among those that start with `prefix`
  int shift = D::shift(0);
  for (int digit = 0; digit < D::count; ++digit) {
    shift = D::shift(digit);
    for (int i = static_cast<int>(threadIdx.x); i < D::buckets; i += kSelectThreads) counts[i] = 0;
    __syncthreads();
#pragma unroll 4
    for (uint32_t i = first; i < all; i += stride) {
      const uint64_t key = memory.accepted[i] >> shift;
      if (key >> D::bits == prefix) atomicAdd(&counts[D::lowest(key)], 1u);
    }
    __syncthreads();
    uint32_t* const histogram = memory.digits + digit * D::buckets;
    for (int i = static_cast<int>(threadIdx.x); i < D::buckets; i += kSelectThreads)
      if (counts[i] > 0) atomicAdd(&histogram[i], counts[i]);
    grid.sync();
    const CornerCutoff cutoff = corner_cutoff<kSelectThreads>(histogram, missing);
    prefix = prefix << D::bits | static_cast<uint64_t>(cutoff.bucket);
    missing -= cutoff.stronger;
    if (histogram[cutoff.bucket] == missing) break;  // true for the last digit, because keys differ
  }
  const uint64_t weakest = prefix << shift;
#pragma unroll 4
  for (uint32_t i = first; i < all; i += stride)
    if (const uint64_t key = memory.accepted[i]; key >= weakest)
      memory.candidates[atomicAdd(&memory.counters->selected, 1u)] = key;
}

/// Ranks 32 corners per block. The block stages kRankThreads corners at a time in shared memory; each warp
/// counts the stronger ones among 32 of these.
__global__ void __launch_bounds__(kRankThreads) corner_rank_kernel(CornerLaunch launch) {
  constexpr uint32_t warps = kRankThreads / 32;
  __shared__ uint64_t others[kRankThreads];
  __shared__ uint32_t counts[warps][32];
  const uint32_t wanted = launch.wanted();
  if (wanted == 0) return;
  const CornerDeviceMemory& memory = launch.memory;
  const uint32_t selected = memory.counters->selected;
  const uint32_t all = selected > 0 ? selected : memory.counters->accepted;
  const uint64_t* const keys = selected > 0 ? memory.candidates : memory.accepted;
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  if (blockIdx.x == 0 && threadIdx.x == 0) *launch.job.count = {min(all, wanted), memory.counters->strongest};
  const auto key_at = [&](uint32_t i) { return i < all ? keys[i] : 0; };
  for (uint32_t first = blockIdx.x * 32; first < all; first += gridDim.x * 32) {
    const uint64_t key = key_at(first + lane);
    uint64_t coming = key_at(threadIdx.x);
    uint32_t stronger = 0;
    for (uint32_t base = 0; base < all; base += kRankThreads) {
      others[threadIdx.x] = coming;
      __syncthreads();
      coming = key_at(base + kRankThreads + threadIdx.x);
#pragma unroll
      for (uint32_t i = 0; i < 32; ++i) stronger += others[32 * warp + i] > key ? 1u : 0u;
      __syncthreads();
    }
    counts[warp][lane] = stronger;
    __syncthreads();
    if (warp == 0 && key != 0) {
      uint32_t rank = 0;
      for (uint32_t i = 0; i < warps; ++i) rank += counts[i][lane];
      if (rank < wanted)
        launch.job.found[rank] = {corner_key_x(key), corner_key_y(key), corner_key_strength(key)};
    }
    __syncthreads();
  }
}

}  // namespace

void launch_corner_select(const CornerJob& job, CudaStream stream) {
  launch_resident(corner_select_kernel, kSelectThreads, stream, launch_of(job));
}

void launch_corner_rank(const CornerJob& job, CudaStream stream) {
  corner_rank_kernel<<<4 * resident_blocks(), kRankThreads, 0, stream>>>(launch_of(job));
  LENSD_LAUNCHED();
}

}  // namespace lensd
