// The CUDA side of klt: one call a pass. Which half of the state is which is known on the device only, so
// that kernels get both.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/klt/klt_math.hpp"

namespace lensd {

using KltState = StatePair<uint8_t>;

struct KltDeviceJob {
  const KltShape& shape;
  KltState state;
  const KltBlock* block;  ///< in device memory
  TrackTable* table;
  const Corner* found;
  const CornerCount* count;
  uint32_t* wanted;
};

void launch_klt_luma(const KltDeviceJob& job, ConstImageRef in, CudaStream stream);
/// Levels `first` to at most `first` + 2, from the one above them.
void launch_klt_pyramid(const KltDeviceJob& job, int first, CudaStream stream);
void launch_klt_follow(const KltDeviceJob& job, CudaStream stream);
void launch_klt_drift(const KltDeviceJob& job, CudaStream stream);
void launch_klt_settle(const KltDeviceJob& job, CudaStream stream);
void launch_klt_table(const KltDeviceJob& job, CudaStream stream);
/// First patches of new tracks.
void launch_klt_patches(const KltDeviceJob& job, CudaStream stream);

}  // namespace lensd
