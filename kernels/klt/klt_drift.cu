#include "kernels/common/launch.cuh"
#include "kernels/klt/klt_affine.hpp"
#include "kernels/klt/klt_lanes.cuh"
#include "kernels/klt/klt_launch.hpp"
#include "kernels/klt/klt_table.hpp"

namespace lensd {
namespace {

/// A warp for each place.
struct KltDriftTuning {
  static constexpr int warps = 4;
};

__global__ void __launch_bounds__(32 * KltDriftTuning::warps)
    klt_drift_kernel(const __grid_constant__ KltShape shape, KltState state, TrackTable* table) {
  const int place = static_cast<int>(blockIdx.x * KltDriftTuning::warps + threadIdx.x / 32);
  if (place >= shape.capacity) return;
  Track& track = table->tracks()[place];
  if (track.status != TrackStatus::tracked) return;
  KltFirst first = shape.first(state.before())[place];
  const KltFirstPatch<KltWarpLanes> patch(shape.patch(state.halves, place), first, shape.level[0].extent,
                                          shape.window, {});
  const auto picture = shape.view(static_cast<const uint8_t*>(state.after()), 0);
  const bool same = klt_looks_same(patch, picture, track.x, track.y, shape.window, first.warp);
  __syncwarp();
  if ((threadIdx.x & 31) != 0) return;
  shape.first(state.after())[place] = first;
  if (!same) track.status = TrackStatus::lost_drift;
}

__global__ void __launch_bounds__(32 * KltDriftTuning::warps)
    klt_patches_kernel(const __grid_constant__ KltShape shape, KltState state, const TrackTable* table) {
  const int place = static_cast<int>(blockIdx.x * KltDriftTuning::warps + threadIdx.x / 32);
  if (place >= shape.capacity || table->tracks()[place].status != TrackStatus::fresh) return;
  const Track& track = table->tracks()[place];
  const Corner corner{static_cast<int>(track.x), static_cast<int>(track.y), 0};
  const int lane = static_cast<int>(threadIdx.x & 31);
  klt_keep_patch(shape, shape.view(static_cast<const uint8_t*>(state.after()), 0), corner,
                 shape.patch(state.halves, place), lane, 32);
  KltFirst first;
  first.x = corner.x, first.y = corner.y;
  if (lane == 0) shape.first(state.after())[place] = first;
}

}  // namespace

void launch_klt_drift(const KltDeviceJob& job, CudaStream stream) {
  klt_drift_kernel<<<blocks_for(job.shape.capacity, KltDriftTuning::warps), 32 * KltDriftTuning::warps, 0,
                     stream>>>(job.shape, job.state, job.table);
  LENSD_LAUNCHED();
}

void launch_klt_patches(const KltDeviceJob& job, CudaStream stream) {
  klt_patches_kernel<<<blocks_for(job.shape.capacity, KltDriftTuning::warps), 32 * KltDriftTuning::warps, 0,
                       stream>>>(job.shape, job.state, job.table);
  LENSD_LAUNCHED();
}

}  // namespace lensd
