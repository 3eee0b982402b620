// The CUDA side of median from radius 3 on.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/median/median_math.hpp"

namespace lensd {

/// Queues the pass for this radius, whatever the parameter block says.
void launch_median_tiles(const PassArgs& args, int radius, CudaStream stream);

}  // namespace lensd
