// The CUDA side of median from radius 3 on.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/median/median_math.hpp"

namespace lensd {

/// Queues the pass; the launch depends on the radius alone.
void launch_median_tiles(const PassArgs& args, CudaStream stream);

}  // namespace lensd
