// The CUDA side of median at radius 3.
#pragma once

#include "core/graph/filter.hpp"

namespace lensd {

/// Queues the pass for radius 3, whatever the parameter block says.
void launch_median_merge(const PassArgs& args, CudaStream stream);

}  // namespace lensd
