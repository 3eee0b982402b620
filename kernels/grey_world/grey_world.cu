#include "kernels/common/launch.cuh"
#include "kernels/grey_world/grey_world.hpp"

namespace lensd {
namespace {

/// Computes the gains and the tables with one block of 256 threads: one thread computes the gains, then all
/// fill the tables.
__global__ void gains_kernel(const GreyWorldBlock* block, int channels, uint64_t pixels,
                             StatePair<GreyWorldState> states, GreyWorldStats* stats, LutTables* tables) {
  const int v = static_cast<int>(threadIdx.x);
  if (v == 0) {
    GreyWorldState state = states.past();
    GreyWorld::decide(*block, channels, pixels, state, *stats);
    *states.after() = state;
  }
  __syncthreads();
  for (int c = 0; c < channels; ++c) tables->channel[c][v] = GreyWorld::table_value(*block, *stats, c, v);
}

}  // namespace

void GreyWorld::launch_decide(const PassArgs& args, CudaStream stream) const {
  const ImageFormat format = args.in[0].format;
  gains_kernel<<<1, 256, 0, stream>>>(device_block(args), colour_channels(format.format), pixel_count(format),
                                      args.state_of<GreyWorldState>(), stats_of(args), tables_of(args));
  LENSD_LAUNCHED();
}

}  // namespace lensd
