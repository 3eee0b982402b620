#include "kernels/common/launch.cuh"
#include "kernels/klt/klt.hpp"
#include "kernels/klt/klt_affine.hpp"
#include "kernels/klt/klt_lanes.cuh"
#include "kernels/klt/klt_table.hpp"

namespace lensd {
namespace {

/// A warp checks the track of one slot.
struct KltDriftTuning {
  static constexpr int warps = 4;
};

template <class Pixel>
__global__ void __launch_bounds__(32 * KltDriftTuning::warps)
    klt_drift_kernel(const __grid_constant__ KltShape shape, KltState state, TrackTable* table) {
  const int slot = static_cast<int>(blockIdx.x * KltDriftTuning::warps + threadIdx.x / 32);
  if (slot >= shape.capacity) return;
  Track& track = table->tracks()[slot];
  if (track.status != TrackStatus::tracked) return;
  KltFirst first = shape.first(state.before())[slot];
  const KltFirstPatch<Pixel, KltWarpLanes> patch(shape.patch<Pixel>(state.halves, slot), first,
                                                 shape.level[0].extent, shape.window, {});
  const auto picture = shape.view<Pixel>(static_cast<const uint8_t*>(state.after()), 0);
  const bool same = klt_matches_first(patch, picture, track.x, track.y, shape.window, first.warp);
  __syncwarp();
  if ((threadIdx.x & 31) != 0) return;
  shape.first(state.after())[slot] = first;
  if (!same) track.status = TrackStatus::lost_drift;
}

template <class Pixel>
__global__ void __launch_bounds__(32 * KltDriftTuning::warps)
    klt_patches_kernel(const __grid_constant__ KltShape shape, KltState state, const TrackTable* table) {
  const int slot = static_cast<int>(blockIdx.x * KltDriftTuning::warps + threadIdx.x / 32);
  if (slot >= shape.capacity || table->tracks()[slot].status != TrackStatus::fresh) return;
  const Track& track = table->tracks()[slot];
  const Corner corner{static_cast<int>(track.x), static_cast<int>(track.y), 0};
  klt_keep_patch<Pixel>(shape, state.after(), state.halves, slot, corner, static_cast<int>(threadIdx.x & 31),
                        32);
}

}  // namespace

void Klt::launch_drift(const PassArgs& args, CudaStream stream) const {
  const auto kernel = shape_.deep ? &klt_drift_kernel<uint16_t> : &klt_drift_kernel<uint8_t>;
  kernel<<<blocks_for(shape_.capacity, KltDriftTuning::warps), 32 * KltDriftTuning::warps, 0, stream>>>(
      shape_, state_of(args), &table_of(args));
  LENSD_LAUNCHED();
}

void Klt::launch_patches(const PassArgs& args, CudaStream stream) const {
  const auto kernel = shape_.deep ? &klt_patches_kernel<uint16_t> : &klt_patches_kernel<uint8_t>;
  kernel<<<blocks_for(shape_.capacity, KltDriftTuning::warps), 32 * KltDriftTuning::warps, 0, stream>>>(
      shape_, state_of(args), &table_of(args));
  LENSD_LAUNCHED();
}

}  // namespace lensd
