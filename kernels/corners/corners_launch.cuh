// Corner detection on CUDA: arguments and parts that kernels of several files share.
#pragma once

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/corners/corners.hpp"
#include "kernels/corners/corners_device.hpp"

namespace lensd {

struct CornerLaunch {
  CornerJob job;
  CornerDeviceMemory memory;

  __device__ uint32_t wanted() const { return min(*job.wanted, static_cast<uint32_t>(job.params->capacity)); }
};

inline CornerLaunch launch_of(const CornerJob& job) {
  return {job, CornerDeviceMemory(job.scratch, job.luma.extent)};
}

/// Where to cut a histogram: the highest bucket such that it and all stronger ones hold at least the
/// requested number of candidates, or bucket 0 if there are fewer.
struct CornerCutoff {
  int bucket;
  uint32_t stronger;  ///< number of candidates in stronger buckets; 0 if there are too few candidates
};

/// Returns the cutoff of `histogram` for `enough` candidates. Call from all `threads` threads of a block. Two
/// calls need a barrier between them.
template <int threads>
__device__ CornerCutoff corner_cutoff(const uint32_t* histogram, uint32_t enough) {
  constexpr int own = CornerHistogram::count / threads;
  static_assert(own * threads == CornerHistogram::count);
  __shared__ CornerCutoff cutoff;
  const int t = static_cast<int>(threadIdx.x);
  const int strongest = CornerHistogram::count - 1 - t * own;  // strongest of the thread's buckets
  uint32_t sum = 0;
  for (int i = 0; i < own; ++i) sum += histogram[strongest - i];
  if (t == 0) cutoff = {0, 0};
  // Number of candidates in this thread's and all stronger buckets. block_inclusive_sum() contains the
  // barrier that `cutoff` needs.
  const uint32_t until = block_inclusive_sum<threads>(sum);
  uint32_t count = until - sum;
  if (count < enough && until >= enough)
    for (int i = 0; i < own; ++i) {
      const uint32_t stronger = count;
      count += histogram[strongest - i];
      if (count >= enough) {
        cutoff = {strongest - i, stronger};
        break;
      }
    }
  __syncthreads();
  return cutoff;
}

/// Returns the number of multiprocessors. With one block on each, all blocks are resident.
inline unsigned resident_blocks() {
  return static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount));
}

/// Launches cooperatively, one block per multiprocessor: either all blocks are resident or the launch fails.
template <class... Args>
void launch_resident(void (*kernel)(Args...), int threads, CudaStream stream, Args... args) {
  cudaLaunchAttribute cooperative = {};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(resident_blocks()), config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream, config.attrs = &cooperative, config.numAttrs = 1;
  LENSD_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, args...));
}

/// Passes of corners_rank.cu.
void launch_corner_select(const CornerJob& job, CudaStream stream);
void launch_corner_rank(const CornerJob& job, CudaStream stream);

}  // namespace lensd
